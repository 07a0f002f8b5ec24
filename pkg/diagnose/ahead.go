package diagnose

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/refusal"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// lookAhead looks side by side at what the examination comes to, which goes from object to object
// by itself.
func (e *examiner) lookAhead(ctx context.Context, ids []graph.ID) error {
	looks, deletions := e.comesTo(ids)
	e.refusal.Tries.Many = e.refusal.Tries.Many || len(looks)+len(deletions) > 1
	e.ManyLooks = e.ManyLooks || e.Many || len(looks) > core.MaxByName
	var own []graph.ID
	var all []func()
	for _, l := range looks {
		own = append(own, l.ID)
		all = append(all, func() { e.look(ctx, l) })
	}
	for _, d := range deletions {
		if e.Graph.DeletionTimestamp(d.ID) != 0 {
			own = append(own, d.ID)
		}
		all = append(all, func() { e.refusal.Try(ctx, d) })
	}
	e.ReadObjects(ctx, own)
	done := e.counter(len(all))
	var group errgroup.Group
	group.SetLimit(e.Client.Concurrency())
	for _, examine := range all {
		group.Go(func() error {
			defer done()
			examine()
			return ctx.Err()
		})
	}
	_ = group.Wait() // which fails with the context only
	return context.Cause(ctx)
}

// counter tells how many of the objects have been looked at, each time that it is called.
func (e *examiner) counter(total int) func() {
	if e.opts.Progress == nil {
		return func() {}
	}
	var mu sync.Mutex
	n := 0
	return func() {
		mu.Lock()
		defer mu.Unlock()
		n++
		e.opts.Progress(n, total, "objects")
	}
}

// comesTo follows objects to what they wait for, as far as the snapshot shows it, and returns what is
// to be looked at, and what is to be asked of the server whether it could be deleted.
func (e *examiner) comesTo(ids []graph.ID) (looks []*core.Examined[looked],
	deletions []*core.Examined[refusal.Deletion]) {
	seen := map[graph.ID]bool{}
	looking, asking := map[graph.ID]bool{}, map[graph.ID]bool{}
	next := slices.Clone(ids)
	for i := 0; i < len(next); i++ {
		id := next[i]
		if seen[id] || !e.Graph.Observed(id) {
			continue
		}
		seen[id] = true
		alone := i < len(ids) && e.Graph.DeletionTimestamp(id) == 0 && !e.awaited(id) // nothing waits for its finalizers
		if len(core.Others(e.Graph.Finalizers(id))) > 0 && !alone {
			if l := e.lookOf(id); !looking[l.ID] {
				looking[l.ID] = true
				looks = append(looks, l)
			}
		}
		if e.Graph.DeletionTimestamp(id) == 0 || e.halfDeleted(id) {
			if d := e.refusal.DeletionOf(id); !asking[d.ID] {
				asking[d.ID] = true
				deletions = append(deletions, d)
			}
		}
		next = append(next, e.waitsFor(id)...)
	}
	slices.SortFunc(looks, func(a, b *core.Examined[looked]) int { return cmp.Compare(a.ID, b.ID) })
	return looks, deletions
}

// waitsFor returns what an object waits for, or would if it were deleted.
func (e *examiner) waitsFor(id graph.ID) []graph.ID {
	var all []graph.ID
	deleted, ref := e.Graph.DeletionTimestamp(id) != 0, e.Graph.Ref(id)
	if rule, ok := link.Of(ref); ok && deleted &&
		(rule.Finalizer == "" || slices.Contains(e.Graph.Finalizers(id), rule.Finalizer)) {
		all = e.Links.Content(id)
	}
	if deleted {
		for _, name := range e.Graph.Finalizers(id) {
			for _, end := range e.linked.toLookAt(id, name) {
				all = append(append(all, end), e.linked.contentOf(end)...)
			}
		}
	}
	if _, ring := e.collector.rings[id]; ring || deleted &&
		!slices.Contains(e.Graph.Finalizers(id), plan.ForegroundFinalizer) {
		return all
	}
	if deleted || e.awaited(id) {
		for edge := range e.Graph.Dependents(id) {
			if e.collector.projection.Blocks(edge) {
				all = append(all, edge.Dependent)
			}
		}
	}
	return all
}

// halfDeleted reports whether nothing is seen that keeps an object.
func (e *examiner) halfDeleted(id graph.ID) bool {
	ref := e.Graph.Ref(id)
	return len(e.Graph.Finalizers(id)) == 0 && !core.OfType(cluster.Pods)(ref) && !core.OfType(cluster.Namespaces)(ref)
}

// awaited reports whether an owner of an object that is not being deleted waits for it.
func (e *examiner) awaited(id graph.ID) bool {
	for edge := range e.Graph.Owners(id) {
		if e.collector.projection.OwnerState(edge) == plan.Waiting {
			return true
		}
	}
	return false
}
