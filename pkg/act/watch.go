package act

import (
	"cmp"
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

func (r *run) pollInterval() time.Duration { return cmp.Or(r.opts.PollInterval, 2*time.Second) }

// watch hears of what is waited for in a type and namespace, until the context ends. Who may not
// watch lists, and who may not list reads, as is done where neither is answered.
func (r *run) watch(ctx context.Context, p cluster.ResumePoint) error {
	err := r.client.WithPollInterval(r.pollInterval()).Watch(ctx, []cluster.ResumePoint{p}, func(c cluster.Change) {
		if c.Object == nil {
			r.waiter.listed(c)
			r.grace.listed(c)
			return
		}
		r.waiter.change(c)
		r.grace.change(c)
	})
	if _, ok := errors.AsType[*cluster.UnseenError](err); !ok {
		return err
	}
	return r.readEach(ctx, p)
}

// readEach reads the objects of a resume point one by one, again and again. What may not be read,
// or is not answered, is not waited for, as kubectl does: whoever may only delete cannot know when
// it is gone.
func (r *run) readEach(ctx context.Context, p cluster.ResumePoint) error {
	for ctx.Err() == nil {
		if err := cluster.EachUntil(ctx, r.client, r.waiter.within(p),
			func(_ context.Context, _ int, left Blocked) error { return r.readOne(ctx, p.Type, left.Object) }); err != nil {
			return err
		}
		select {
		case <-time.After(r.pollInterval()):
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

func (r *run) readOne(ctx context.Context, t graph.Type, ref graph.Ref) error {
	err := r.lookAt(ctx, t, ref)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case apierrors.IsUnauthorized(err):
		return err
	case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err), cluster.IsTimeout(err):
		r.notSeen(ref, err)
	}
	return nil // anything else may pass
}

// notSeen notes that nothing is heard any more of an object that is waited for.
func (r *run) notSeen(ref graph.Ref, err error) {
	r.unseen.Lock()
	defer r.unseen.Unlock()
	if r.waiter.lost(ref.UID) { // which may be the end of the wait
		r.result.Unseen = append(r.result.Unseen, Unseen{ref, err})
	}
}

// guardTime is how long a controller may take to notice that an object is being deleted whose
// dependents are orphaned.
const guardTime = 15 * time.Second

// guard tells of the owners, of those that stay for a while although their dependents were
// orphaned, whose controllers do not notice it: such a controller adopts the dependents again, and
// when the owner goes so do they (RO-021). That it has noticed shows in status.observedGeneration,
// since a deletion counts as a generation (API-017). Owners without generations cannot be judged.
func (r *run) guard(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-time.After(guardTime):
		r.unobserved(ctx)
	}
	return nil
}

func (r *run) unobserved(ctx context.Context) {
	cluster.Each(r.client, r.result.Done, func(_ int, d Done) {
		if d.Policy != plan.Orphan || d.Graph.Generation(d.Object) == 0 {
			return
		}
		ref := d.Graph.Ref(d.Object)
		if _, left := r.waiter.get(ref.UID); !left {
			return
		}
		t, _ := d.Graph.Type(d.Object)
		o, details, err := r.client.GetMetaAndDetails(ctx, t, ref.Namespace, ref.Name)
		if err == nil && o.UID == ref.UID && o.DeletionTimestamp != 0 && details.Behind {
			r.opts.OnEvent(eventOf(Unobserved, ref, nil))
		} // one that cannot be read is not known to be behind
	})
}

// settling is how long changes are gathered before the collector's part is done again because of
// them.
const settling = 100 * time.Millisecond

// collect has the collector's part done, and again whenever something of the cascade has changed:
// when others have removed their finalizers it can have more to do. The last time is when all is
// gone, since objects that stay may still have references to what is gone.
func (r *run) collect(ctx context.Context) error {
	for last := false; ; {
		if err := r.opts.Collect(ctx, r.result.Done); err != nil || last {
			return err
		}
		select {
		case <-r.waiter.changed:
		case <-r.waiter.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		select {
		case <-time.After(settling):
		case <-r.waiter.done:
			last = true
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		select {
		case <-r.waiter.changed:
		default:
		}
	}
}
