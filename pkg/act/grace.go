package act

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// shortener gives what the collector has deleted the grace period of the roots. The collector's own
// deletes carry none (GC-056), so an object gets the one in its spec first; another delete can
// shorten that, and never lengthen it (API-018).
type shortener struct {
	ctx    context.Context // of the run, which is longer than that of the watches
	run    *run
	period int64 // -1 for nothing to do
	group  errgroup.Group

	mu   sync.Mutex
	seen map[string]bool // the uids of what nothing is left to do about
	ends []end
	told bool
}

// end is what came of one delete.
type end struct {
	waited
	action plan.Action
	err    error
}

func newShortener(ctx context.Context, r *run) *shortener {
	s := &shortener{ctx: ctx, run: r, period: -1, seen: map[string]bool{}}
	s.group.SetLimit(r.client.Concurrency())
	if r.opts.PropagateGracePeriod && r.opts.GracePeriodSeconds != nil {
		s.period = *r.opts.GracePeriodSeconds
	}
	return s
}

// change looks at the grace period of an object that a watch has shown.
func (s *shortener) change(c cluster.Change) {
	if s.period < 0 || c.Gone {
		return
	}
	if c.GracePeriodSeconds == 0 && c.Object.DeletionTimestamp != 0 && hasGracePeriod(c.ResumePoint.Type) {
		if l, ok := s.run.waiter.get(c.Object.UID); ok { // a list does not show it
			s.look(c.ResumePoint.Type, l.Object)
		}
		return
	}
	if l, ok := s.tooLong(c.Object, c.GracePeriodSeconds); ok {
		s.group.Go(func() error { return s.shorten(l) })
	}
}

// listed looks at the objects of a type after events may have been missed.
func (s *shortener) listed(c cluster.Change) {
	if s.period < 0 || !hasGracePeriod(c.ResumePoint.Type) {
		return
	}
	for _, left := range s.run.waiter.within(c.ResumePoint) {
		s.look(c.ResumePoint.Type, left.Object)
	}
}

// hasGracePeriod reports whether the objects of a type have a grace period: only pods do (API-018).
func hasGracePeriod(t graph.Type) bool { return t.Resource == "pods" && t.Group == "" }

// look reads an object and shortens its grace period. If it cannot be read, the watch that goes on
// shows what happens to it next.
func (s *shortener) look(t graph.Type, ref graph.Ref) {
	s.group.Go(func() error {
		if o, details, err := s.run.client.GetMetaAndDetails(s.ctx, t, ref.Namespace, ref.Name); err == nil {
			if l, ok := s.tooLong(o, details.GracePeriodSeconds); ok {
				return s.shorten(l)
			}
		}
		return nil
	})
}

// tooLong says, once for each object, whether its grace period is to be shortened. It tells of the
// first that would have to be lengthened.
func (s *shortener) tooLong(o *graph.Object, period int64) (waited, bool) {
	l, ok := s.run.waiter.get(o.UID)
	if !ok || o.DeletionTimestamp == 0 || period == 0 || period == s.period {
		return waited{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[o.UID] {
		return waited{}, false
	}
	s.seen[o.UID] = true
	if period < s.period && !s.told {
		s.told = true
		e := eventOf(Ungraceful, l.Object, nil)
		e.GracePeriodSeconds = period
		s.run.opts.OnEvent(e)
	}
	l.Finalizers = slices.Clone(o.Finalizers)
	return l, period > s.period
}

// shorten deletes an object again. It keeps the collector's finalizer that it has and gets no
// other: what becomes of its dependents was decided by who deleted it first.
func (s *shortener) shorten(l waited) error {
	policy := plan.Background
	switch {
	case slices.Contains(l.Finalizers, plan.OrphanFinalizer):
		policy = plan.Orphan
	case slices.Contains(l.Finalizers, plan.ForegroundFinalizer):
		policy = plan.Foreground
	}
	o := objectOf(s.run.client, l.graph, l.id)
	_, err := o.Delete(s.ctx, cluster.DeleteOptions{Policy: string(policy), GracePeriodSeconds: &s.period})
	if err != nil {
		err = naming(o.Ref, err)
	}
	if change.IsAmbiguous(err) {
		if _, unread := o.Reread(s.ctx, err); change.IsOver(unread) {
			return nil // it was faster
		} else if unread != nil {
			err = unread
		}
	}
	if err != nil && s.ctx.Err() != nil {
		err = ErrInterrupted
	}
	action := plan.Action{Verb: plan.VerbDelete, Object: l.id, Policy: policy, Wave: l.deletedIn, By: plan.ByClient,
		Because: plan.Reason{Code: plan.GracePeriod}}
	s.run.wrote(l.graph, action, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = append(s.ends, end{l, action, err})
	return nil
}

// finish waits for the deletes that are under way and notes what came of them all. No watch may be
// running any more.
func (s *shortener) finish() {
	_ = s.group.Wait() // errors are in the ends
	slices.SortFunc(s.ends, func(a, b end) int { return compareRefs(a.Object, b.Object) })
	for _, e := range s.ends {
		s.run.note(e.graph, e.action, e.err)
	}
}
