package collect

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// recheck lists where dependents of an owner can be, before a loop that works from a store removes
// the finalizer with which the owner waits for them. A watch may be behind, and what it has not
// shown yet would be deleted because of it, or not waited for (RO-020, RO-022). One listing of a
// namespace serves all owners of a pass.
type recheck struct {
	scopes cluster.Asked[string, *selection.Snapshot]
}

// shows says whether the graph of the pass has all dependents of an owner that waits. A pass that
// began with a listing has no need to ask.
func (r *recheck) shows(ctx context.Context, p *pass, id graph.ID) bool {
	if p.loop.store == nil {
		return true
	}
	ref := p.graph.Ref(id)
	now, err := r.list(ctx, p, ref.Namespace)
	if err != nil || len(plan.Hiding(now.Graph, now.Gaps, ref)) > 0 {
		return false
	}
	owner, referenced := now.Graph.Lookup(ref.UID)
	if !referenced {
		return true
	}
	for e := range now.Graph.Dependents(owner) {
		if !p.knows(id, now.Graph.Ref(e.Dependent).UID, e.Block) {
			return false
		}
	}
	return true
}

// list lists a namespace, or everything if it is empty.
func (r *recheck) list(ctx context.Context, p *pass, namespace string) (*selection.Snapshot, error) {
	return r.scopes.Once(ctx, namespace, func() (*selection.Snapshot, error) {
		opts := cluster.ListOptions{Namespace: namespace, Fallback: p.loop.opts.List.Fallback}
		opts.Types = func(of cluster.Resource) bool {
			if wanted := p.loop.opts.List.Types; wanted != nil && !wanted(of) {
				return false
			}
			return of.Deletable() && (of.Namespaced || namespace == "")
		}
		return selection.List(ctx, p.client, p.catalog, opts)
	})
}

// knows says whether the pass has a reference to an owner, which blocks if the one that is asked
// for does.
func (p *pass) knows(owner graph.ID, dependent string, blocks bool) bool {
	id, ok := p.graph.Lookup(dependent)
	if !ok {
		return false
	}
	for e := range p.graph.Owners(id) {
		if e.Owner == owner && (e.Block || !blocks) {
			return true
		}
	}
	return false
}
