package act

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// pollInterval is how often what may not be watched is listed or read.
const pollInterval = 2 * time.Second

func (r *run) pollInterval() time.Duration {
	if r.opts.PollInterval > 0 {
		return r.opts.PollInterval
	}
	return pollInterval
}

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
	var unseen *cluster.UnseenError
	if !errors.As(err, &unseen) {
		return err
	}
	return r.readEach(ctx, p)
}

// readEach reads the objects of a resume point one by one, again and again. What may not be read,
// or is not answered, is not waited for, as kubectl does: whoever may only delete cannot know when
// it is gone.
func (r *run) readEach(ctx context.Context, p cluster.ResumePoint) error {
	for ctx.Err() == nil {
		var group errgroup.Group
		group.SetLimit(r.client.Concurrency())
		for _, left := range r.waiter.within(p) {
			group.Go(func() error { return r.readOne(ctx, p.Type, left.Object) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		r.pause(ctx)
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

// pause waits until it is time to look again, or until the end.
func (r *run) pause(ctx context.Context) {
	select {
	case <-time.After(r.pollInterval()):
	case <-ctx.Done():
	}
}
