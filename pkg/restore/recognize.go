package restore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
)

// recognize finds out of objects with another uid whether they were restored, or made again, from
// the archived ones in whose places they are. The companion of the archive says so of most. What an
// earlier restore has created before it was killed, and what controllers make that own something,
// is compared with the archive, which is read again for it.
func (s *surveyor) recognize(ctx context.Context, created *archive.Created) error {
	left := map[int]bool{}
	for _, it := range s.items {
		now := s.live[it.number]
		if now.uid == "" || now.uid == it.ref.UID || now.deleting {
			continue
		}
		made := it.controller() != nil && now.controllerBesides("") != "" && len(s.dependents(it)) > 0
		switch {
		case created.Is(it.ref.UID, now.uid):
			s.proofs[it.number].noted = true
		case now.restoredFrom == it.ref.UID, made:
			left[it.number] = true
		}
	}
	if len(left) == 0 {
		return nil
	}
	a, err := archive.Open(s.file)
	if err != nil {
		return err
	}
	defer a.Close()
	var group errgroup.Group
	group.SetLimit(s.client.Concurrency())
	defer func() { _ = group.Wait() }() // which nothing fails
	for _, it := range s.items {
		if !left[it.number] {
			err = a.Skip()
		} else if err = s.compare(ctx, &group, a, it); ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, io.EOF) {
			return errOther(s.file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compare compares the next object of the archive with the live one in its place. Of one that
// cannot be read nothing is proven.
func (s *surveyor) compare(ctx context.Context, group *errgroup.Group, a *archive.Reader, it *item) error {
	archived, _, err := a.Next()
	if err != nil {
		return err
	}
	if a.Sum() != it.sum {
		return errOther(s.file)
	}
	group.Go(func() error {
		there, err := s.client.GetObject(ctx, s.types[it.number], it.ref.Namespace, it.ref.Name)
		if err == nil && string(there.GetUID()) == s.live[it.number].uid {
			sent := Creatable(archived)
			s.proofs[it.number] = proof{copied: IsCopy(sent, there), alike: isAlike(sent, there)}
		}
		return nil
	})
	return nil
}

// wrongScope says why an object cannot be where the archive has it; empty if it can.
func (d *decider) wrongScope(it *item) string {
	switch t := d.types[it.number]; {
	case t.Namespaced && it.ref.Namespace == "":
		return fmt.Sprintf("the archive does not say in which namespace %s is", it.ref.Kind+" "+it.ref.Name)
	case !t.Namespaced && it.ref.Namespace != "":
		return fmt.Sprintf("the archive has it in namespace %s, and a %s is in no namespace", it.ref.Namespace, it.ref.Kind)
	}
	return ""
}
