package ownerref

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// SettleTime is how long an object is looked at, after a write, for a controller that undoes it.
const SettleTime = time.Second

// lookAgain is how long after a write the object is read for the first time again; each time after that it takes twice as long.
const lookAgain = 100 * time.Millisecond

// LookAfter reads an object until its references are not as they were left, or for as long as a controller may take. It says whether they were changed back. An
// object that is gone was not; the error is that of the last read.
func LookAfter(ctx context.Context, client *cluster.Client, t graph.Type, ref graph.Ref, undone func(*graph.Object) bool) (bool, error) {
	end := time.Now().Add(SettleTime)
	for pause := lookAgain; ; pause *= 2 {
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(min(pause, time.Until(end))):
		}
		now, err := Read(ctx, client, t, ref)
		switch {
		case errors.Is(err, ErrGone), errors.Is(err, ErrReplaced):
			return false, nil
		case err == nil && undone(now):
			return true, nil
		}
		if !time.Now().Before(end) {
			return false, err
		}
	}
}

// PutBack looks after removed references, and returns an error if one is there again, which says who has set it as far as managedFields do.
func PutBack(ctx context.Context, client *cluster.Client, t graph.Type, ref graph.Ref, removed []graph.OwnerReference) error {
	var again graph.OwnerReference
	back, err := LookAfter(ctx, client, t, ref, func(now *graph.Object) bool {
		for _, r := range removed {
			if HasUID(now, r.UID) {
				again = r
				return true
			}
		}
		return false
	})
	switch {
	case back:
		return client.PutBack(ctx, t, ref, Words(again), cluster.OwnerPath(again.UID), 1)
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("it could not be read afterwards: %w", err)
	}
	return err
}

// Words name a reference in an error.
func Words(r graph.OwnerReference) string {
	return fmt.Sprintf("the reference to its owner %s %q", r.Kind, r.Name)
}
