package change

import (
	"cmp"
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Tries is how often a write is sent to an object that changes all the time in what the decision
// does not rest on.
const Tries = 10

// Write is a write to one object that is decided on a version of it.
type Write struct {
	// Seen is the resourceVersion that the first decision is about, if the object is known already;
	// empty to read it before.
	Seen string
	// Read reads the object live, keeps it for Decide, and returns its resourceVersion.
	Read func(context.Context) (string, error)
	// Decide returns what sends the write, decided on the version that was seen or read last; nil
	// if nothing is to be written. The write carries the uid and that version, and its error tells
	// also if the answer does not show what was asked for.
	Decide func(context.Context) (send func(context.Context) error, err error)
}

// Do sends the write, each time decided anew, until the server takes it or refuses it for another
// reason than that the object has changed. What it refuses about a version that is still there is
// its last word; of a 404, which a proxy can answer as well (T-01), the second is. The error is
// that of Read or Decide, ErrMoved with the server's last answer, which may be a webhook's refusal,
// or the server's.
func (w Write) Do(ctx context.Context) error {
	version := w.Seen
	if version == "" {
		var err error
		if version, err = w.Read(ctx); err != nil {
			return err
		}
	}
	var refusal error
	notFound := false
	for range Tries {
		send, err := w.Decide(ctx)
		if err != nil || send == nil {
			return err
		}
		refusal = send(ctx)
		if !IsAmbiguous(refusal) {
			return refusal
		}
		now, err := w.Read(ctx)
		switch {
		case err != nil:
			return unread(ctx, refusal, err)
		case now == version && (notFound || !apierrors.IsNotFound(refusal)):
			return refusal
		}
		notFound = notFound || apierrors.IsNotFound(refusal)
		version = now
	}
	return fmt.Errorf("%w; the server last answered: %s", ErrMoved, refusal.Error())
}

// IsAmbiguous tells the errors that can mean that the object is gone, was replaced or has changed.
// A test of a patch that fails is Invalid, and so is an object that would not be valid (T-17). A
// webhook can answer 409 or 404 as well, and a proxy 404, so that none proves anything (RO-004).
func IsAmbiguous(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsInvalid(err) || apierrors.IsNotFound(err)
}

// unread is the error of a write that was refused, and of which a read does not tell why.
func unread(ctx context.Context, refusal, err error) error {
	if IsOver(err) || apierrors.IsUnauthorized(err) || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w; it could not be read again: %w", refusal, err)
}

// Patch is a change of an object by a JSON patch.
type Patch struct {
	cluster.PatchOptions
	// Seen is the object as it is known already; nil to read it before the first decision.
	Seen *graph.Object
	// Decide returns the steps, decided on the object as it is. Without any, nothing is sent.
	Decide func(now *graph.Object) ([]cluster.PatchStep, error)
	// Verify compares the answer with what was asked for.
	Verify func(answered *graph.Object) error
}

// Patch sends a patch, with tests on the uid and on the resourceVersion of what it was decided on.
// It returns the object as the server answered, or as it is if nothing was to be changed; the
// errors are those of Write.Do.
func (o Object) Patch(ctx context.Context, p Patch) (*graph.Object, error) {
	now := p.Seen
	w := Write{
		Read: func(ctx context.Context) (string, error) {
			read, err := o.Read(ctx)
			if err != nil {
				return "", err
			}
			now = read
			return read.ResourceVersion, nil
		},
		Decide: func(context.Context) (func(context.Context) error, error) {
			steps, err := p.Decide(now)
			if err != nil || len(steps) == 0 {
				return nil, err
			}
			return func(ctx context.Context) error {
				answered, err := o.Send(ctx, now.ResourceVersion, steps, p.PatchOptions)
				if err != nil {
					return err
				}
				now = answered
				return p.Verify(answered)
			}, nil
		},
	}
	if now != nil {
		w.Seen = now.ResourceVersion
	}
	if err := w.Do(ctx); err != nil {
		return nil, err
	}
	return now, nil
}

// Send sends the steps once, after tests that the object is the one that is meant and has a
// version. The error is the server's, or one of Read if the answer is about another object.
func (o Object) Send(ctx context.Context, version string, steps []cluster.PatchStep,
	opts cluster.PatchOptions) (*graph.Object, error) {
	steps = append(cluster.Unchanged(o.Ref.UID, version), steps...)
	answered, err := o.Server.Patch(ctx, o.Type, o.Ref.Namespace, o.Ref.Name, steps, opts)
	if err != nil {
		return nil, err
	}
	return answered, o.identify(answered.UID)
}

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
