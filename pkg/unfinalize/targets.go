package unfinalize

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// searches says whether the objects are searched for, and not named.
func (r Request) searches(q *selection.Query) bool { return r.AllStuck || r.Tree || q.Selector != nil }

// targets finds out which objects are meant: in batches, of which each is to be done before the
// next.
func (r Request) targets(ctx context.Context, q *selection.Query) ([][]Target, []v1alpha1.Gap, error) {
	if !r.searches(q) {
		var targets []Target
		for _, o := range q.Objects {
			targets = append(targets, Target{Type: o.Type, Namespace: o.Namespace, Name: o.Name})
		}
		return [][]Target{targets}, nil, nil
	}
	listed, err := q.List(ctx, q.Types...)
	if err != nil {
		return nil, nil, err
	}
	if err := q.Unlisted(listed.Gaps); err != nil {
		return nil, nil, err
	}
	if err := selection.NamespaceExists(ctx, q.Client, q.Catalog, listed.Graph, q.Scope); err != nil {
		return nil, nil, err
	}
	batches, err := r.pick(ctx, q, listed.Graph)
	if err != nil {
		return nil, nil, err
	}
	targets := make([][]Target, len(batches))
	for i, ids := range batches {
		for _, id := range ids {
			t, _ := listed.Graph.Type(id)
			ref := listed.Graph.Ref(id)
			targets[i] = append(targets[i], Target{Type: t, Namespace: ref.Namespace, Name: ref.Name, UID: ref.UID})
		}
	}
	return targets, listed.Gaps, nil
}

// pick returns those of the objects listed that are meant and may have one of the finalizers, or any
// if none is named.
func (r Request) pick(ctx context.Context, q *selection.Query, g *graph.Graph) ([][]graph.ID, error) {
	has := func(id graph.ID) bool {
		ref := g.Ref(id)
		// Of the spec of a namespace a listing shows nothing.
		return g.Observed(id) && (ref.Resource == "namespaces" && ref.Group() == "" ||
			slices.ContainsFunc(g.Finalizers(id), func(name string) bool {
				return len(r.Finalizers) == 0 || slices.Contains(r.Finalizers, name)
			}))
	}
	stuck := func(id graph.ID) bool { return has(id) && g.State(id) == graph.Deleting }
	switch {
	case r.Tree:
		roots, err := q.Find(ctx, g)
		if err != nil {
			return nil, err
		}
		var batches [][]graph.ID
		for _, batch := range LeavesFirst(g, roots[0], link.New(g).Dependents) {
			if batch = selection.Filter(batch, stuck); len(batch) > 0 {
				batches = append(batches, batch)
			}
		}
		return batches, nil
	case r.AllStuck:
		var ids []graph.ID
		for i := range g.Len() {
			if id := graph.ID(i); stuck(id) && (q.AllNamespaces || g.Namespace(id) == q.Namespace) {
				ids = append(ids, id)
			}
		}
		return [][]graph.ID{ids}, nil
	}
	return [][]graph.ID{selection.Filter(q.Matching(g), has)}, nil
}
