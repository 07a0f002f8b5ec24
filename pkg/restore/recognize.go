package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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

// IsCopy reports whether a live object is what a server makes of one that Creatable has returned:
// alike in all but what servers and controllers set, with the same annotation RestoredFrom. Its
// owners are for the caller to compare. Anybody may write the annotation; who writes all else too
// has created the very object.
func IsCopy(sent, live *unstructured.Unstructured) bool {
	return live.GetAnnotations()[RestoredFrom] == sent.GetAnnotations()[RestoredFrom] &&
		reflect.DeepEqual(compared(sent.DeepCopy()), compared(Creatable(live)))
}

// compared leaves out what tells a copy from its original.
func compared(o *unstructured.Unstructured) map[string]any {
	remove(o.Object, "metadata", "annotations", RestoredFrom)
	remove(o.Object, "metadata", "ownerReferences")
	dropAllocations(o)
	return o.Object
}

// isAlike reports whether a controller has made an object as it was: alike in all but its metadata,
// its status and how often it is to run, which are the controller's.
func isAlike(sent, live *unstructured.Unstructured) bool {
	content := func(o *unstructured.Unstructured) map[string]any {
		o = o.DeepCopy()
		for _, path := range [][]string{{"metadata"}, {"status"}, {"spec", "replicas"}} {
			remove(o.Object, path...)
		}
		return o.Object
	}
	return reflect.DeepEqual(content(sent), content(Creatable(live)))
}

// OwnedAlike reports whether a live object has no other owners than those of one that was sent.
func OwnedAlike(sent, live *unstructured.Unstructured) bool {
	had := liveOf(sent)
	return !slices.ContainsFunc(live.GetOwnerReferences(),
		func(r metav1.OwnerReference) bool { return !had.refersTo(string(r.UID)) })
}

// proof says what is known of a live object that has the place of an archived one and another uid.
type proof struct {
	// noted says that the archive's companion has it as restored from the archived one; copied that
	// it is a copy of it, and alike that it could have been made by the controller of it.
	noted, copied, alike bool
}

// isRestored reports whether what is in the place of an archived object was restored from it. A
// copy has no owners but those that the archived object had, or what has become of these.
func (d *decider) isRestored(it *item) bool {
	p := d.proofs[it.number]
	return p.noted || p.copied && !slices.ContainsFunc(d.live[it.number].owners,
		func(r metav1.OwnerReference) bool { return !d.isOwner(it, string(r.UID)) })
}

// isOwner reports whether a uid is that of an owner of an archived object, then or now.
func (d *decider) isOwner(it *item, uid string) bool {
	return slices.ContainsFunc(it.owners, func(r metav1.OwnerReference) bool {
		owner := d.byUID[string(r.UID)]
		return string(r.UID) == uid || owner != nil && d.uids[owner.number] == uid
	})
}

// isProven reports whether the object that is in the place of an archived one, or that is applied
// over, may be given what the archived one has owned.
func (d *decider) isProven(it *item) bool {
	return d.fates[it.number] == applied || d.live[it.number].uid == it.ref.UID || d.isRestored(it) ||
		d.proofs[it.number].alike
}
