package unfinalize

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// lookAfter reads what was written to again, until it is gone or for as long as a controller may
// take to put a finalizer back.
func (p *performer) lookAfter(ctx context.Context, outcomes []*Outcome) {
	end := time.Now().Add(cmp.Or(p.opts.Settle, change.SettleTime))
	cluster.Each(p.client, outcomes, func(_ int, o *Outcome) {
		if len(o.Done) > 0 && !o.Gone { // the outcome has what was seen
			_ = change.LookAfter(ctx, end, func(ctx context.Context) bool { return p.look(ctx, o) })
		}
	})
}

// look reads an object. It is over if the object is gone, or if a finalizer is back.
func (p *performer) look(ctx context.Context, o *Outcome) (over bool) {
	now, err := p.read(ctx, o.Candidate)
	if change.IsOver(err) {
		o.Gone, o.Unread = true, nil
		return true
	}
	if o.Unread = err; err != nil {
		return false
	}
	o.found(now)
	back := o.back()
	o.PutBack = append(o.PutBack, o.blame(now, back)...)
	return len(back) > 0
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
