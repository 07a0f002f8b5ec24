package unfinalize

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// lookAgain is how long after a write what is still there is read for the first time again; each time after that it takes twice as long.
const lookAgain = 100 * time.Millisecond

// lookAfter reads what was written to again, until it is gone or for as long as a controller may take to put a finalizer back.
func (p *performer) lookAfter(ctx context.Context, outcomes []*Outcome) {
	end := time.Now().Add(p.opts.settle())
	var group errgroup.Group
	group.SetLimit(p.client.Concurrency())
	for _, o := range outcomes {
		if len(o.Done) == 0 || o.Gone {
			continue
		}
		group.Go(func() error {
			p.look(ctx, o, end)
			return nil
		})
	}
	_ = group.Wait() // nothing fails it
}

func (o Options) settle() time.Duration {
	if o.Settle == 0 {
		return SettleTime
	}
	return o.Settle
}

// look reads an object until it is gone, or a finalizer is back, or time is up.
func (p *performer) look(ctx context.Context, o *Outcome, end time.Time) {
	for pause := lookAgain; ; pause *= 2 {
		now, err := p.read(ctx, o.Candidate)
		switch {
		case errors.Is(err, errGone), errors.Is(err, ErrReplaced):
			o.Gone, o.Unread = true, nil
			return
		case err != nil:
			o.Unread = err
		default:
			o.Unread = nil
			o.found(now)
			if back := o.back(); len(back) > 0 {
				o.PutBack = append(o.PutBack, o.blame(now, back)...)
				return
			}
		}
		if !time.Now().Before(end) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(pause, time.Until(end))):
		}
	}
}

// found notes how the object is now.
func (o *Outcome) found(now *unstructured.Unstructured) {
	o.Remaining, o.Grace, o.Half = FinalizersOn(now), grace(now), halfDeleted(now)
	o.Node, _, _ = unstructured.NestedString(now.Object, "spec", "nodeName")
}

// back are the finalizers that were removed and are there.
func (o *Outcome) back() []FinalizerRef {
	return slices.DeleteFunc(slices.Clone(o.Remaining), func(h FinalizerRef) bool { return !o.off[h] })
}
