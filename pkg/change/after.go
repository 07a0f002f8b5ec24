package change

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// SettleTime is how long an object is looked at, after a write, for a controller that undoes it.
const SettleTime = time.Second

// lookAgain is how long after a write the object is read for the second time; each time after that
// it takes twice as long.
const lookAgain = 100 * time.Millisecond

// LookAfter calls look again and again until it says that nothing is to be seen any more, or until
// the end. The error is that of a context that has ended before.
func LookAfter(ctx context.Context, end time.Time, look func(context.Context) (over bool)) error {
	for pause := lookAgain; !look(ctx) && time.Now().Before(end); pause *= 2 {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(pause, time.Until(end))):
		}
	}
	return nil
}

// Undone reads the object until it is not as it was left, or for as long as a controller may take.
// One that is gone was not undone; the error is that of the last read.
func (o Object) Undone(ctx context.Context, undone func(*graph.Object) bool) (is bool, err error) {
	ended := LookAfter(ctx, time.Now().Add(SettleTime), func(ctx context.Context) bool {
		var now *graph.Object
		if now, err = o.Read(ctx); err == nil {
			is = undone(now)
		}
		return is || IsOver(err)
	})
	switch {
	case ended != nil, ctx.Err() != nil:
		return is, cmp.Or(ended, err)
	case err != nil && !IsOver(err):
		return is, fmt.Errorf("it could not be read afterwards: %w", err)
	}
	return is, nil
}

// PutBack looks after removed references. The error is a cluster.PutBackError if one is there
// again, which says who has set it as far as managedFields do.
func (o Object) PutBack(ctx context.Context, removed []graph.OwnerReference) error {
	var again graph.OwnerReference
	back, err := o.Undone(ctx, func(now *graph.Object) bool {
		for _, r := range removed {
			if HasOwner(now, r.UID) {
				again = r
				return true
			}
		}
		return false
	})
	if back {
		return o.Server.PutBack(ctx, o.Type, o.Ref, words(again), cluster.OwnerPath(again.UID), 1)
	}
	return err
}
