package change

import (
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
// the end. The error is that of the last look.
func LookAfter(ctx context.Context, end time.Time, look func(context.Context) (over bool, err error)) error {
	for pause := lookAgain; ; pause *= 2 {
		over, err := look(ctx)
		if over || !time.Now().Before(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(pause, time.Until(end))):
		}
	}
}

// Undone reads the object until it is not as it was left, or for as long as a controller may take.
// One that is gone was not undone; the error is that of the last read.
func (o Object) Undone(ctx context.Context, undone func(*graph.Object) bool) (bool, error) {
	var is bool
	err := LookAfter(ctx, time.Now().Add(SettleTime), func(ctx context.Context) (bool, error) {
		now, err := o.Read(ctx)
		switch {
		case IsOver(err):
			return true, nil
		case err == nil:
			is = undone(now)
		}
		return is, err
	})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("it could not be read afterwards: %w", err)
	}
	return is, err
}

// PutBack looks after removed references. The error is a cluster.PutBackError if one is there again,
// which says who has set it as far as managedFields do.
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
