package unfinalize

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/suggest"
)

// assess assesses the targets. Of many that were found by listing, those that are gone or do not
// have the finalizer any more are left out.
func (r Request) assess(ctx context.Context, assessor *Assessor, q *selection.Query, targets [][]Target,
	names func(*unstructured.Unstructured) []string) ([][]*Candidate, error) {
	var all [][]*Candidate
	var failed []error
	for _, batch := range targets {
		candidates, errs := assessor.Candidates(ctx, batch, names)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var kept []*Candidate
		for i, c := range candidates {
			t := batch[i]
			switch err := errs[i]; {
			case err != nil && r.searches(q) && (errors.Is(err, change.ErrReplaced) || cluster.IsAbsent(err, t.Type, t.Name)):
			case err != nil:
				failed = append(failed, err)
			case !Matches(q.Selector, c.Object):
				if r.OnLeftAlone != nil {
					r.OnLeftAlone(c.Ref, ErrNotSelected)
				}
			case !r.searches(q) || c.Drop(NotThere):
				kept = append(kept, c)
			}
		}
		if len(kept) > 0 {
			all = append(all, kept)
		}
	}
	if len(failed) > 0 {
		return nil, errors.Join(failed...)
	}
	forgive(slices.Concat(all...))
	suggestNames(slices.Concat(all...))
	return all, nil
}

// forgive takes back that an object does not have a finalizer if it has another that was named, and
// if the name is no mistake: another object has it.
func forgive(candidates []*Candidate) {
	there := map[string]bool{}
	for _, c := range candidates {
		for _, v := range c.Assessments {
			there[v.Name] = there[v.Name] || v.Field != ""
		}
	}
	for _, c := range candidates {
		if slices.ContainsFunc(c.Assessments, func(v Assessment) bool { return v.Field != "" }) {
			c.Assessments = slices.DeleteFunc(c.Assessments, func(v Assessment) bool { return v.Field == "" && there[v.Name] })
		}
	}
}

// suggestNames adds the nearest of an object's finalizers to the refusal of a name that it does not
// have.
func suggestNames(candidates []*Candidate) {
	for _, c := range candidates {
		names := NamesOn(c.Object)
		for i := range c.Assessments {
			v := &c.Assessments[i]
			for j := range v.Refusals {
				if v.Refusals[j].Code == NotThere && v.Refusals[j].Hint == "" && len(names) > 0 {
					v.Refusals[j].Hint = suggest.DidYouMean(v.Name, slices.Clone(names))
				}
			}
		}
	}
}

// LeavesFirst returns an object and everything below it, in batches: each dependent is in an
// earlier batch than its owners, but where a cycle closes. Links are the dependents that no
// ownerReference records.
func LeavesFirst(g *graph.Graph, root graph.ID, links func(graph.ID) []graph.Link) [][]graph.ID {
	const busy = -1 // and the edge that closes a cycle makes nothing higher
	heights := map[graph.ID]int{}
	var batches [][]graph.ID
	var visit func(graph.ID) int
	visit = func(id graph.ID) int {
		if height, visited := heights[id]; visited {
			return height
		}
		heights[id] = busy
		height := 0
		for e := range g.Dependents(id) {
			height = max(height, visit(e.Dependent)+1)
		}
		for _, l := range links(id) {
			height = max(height, visit(l.Dependent)+1)
		}
		heights[id] = height
		for len(batches) <= height {
			batches = append(batches, nil)
		}
		batches[height] = append(batches[height], id)
		return height
	}
	visit(root)
	for i := range batches {
		slices.Sort(batches[i])
	}
	return slices.DeleteFunc(batches, func(b []graph.ID) bool { return len(b) == 0 })
}
