package render

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// RunPlan is what there is to show of the plan of a run: the objects that something is done to,
// under the owners because of which; with what was examined of it, if anything was.
func RunPlan(p *collect.Proposal, e deletion.Examined) Plan {
	return Plan{Plan: p.Plan, Rows: slices.Values(runRows(p.Plan)), Gaps: slices.Concat(p.Gaps, p.Unread),
		Known: e.Known, Unfinished: e.Unfinished, Unjudged: e.Unjudged}
}

func runRows(p *plan.Plan) []graph.Row {
	shown := map[graph.ID]bool{}
	var ids []graph.ID
	show := func(id graph.ID) {
		if !shown[id] {
			shown[id] = true
			ids = append(ids, id)
		}
	}
	for _, a := range p.Actions {
		if a.Because.HasCause {
			show(a.Because.Cause)
		}
		show(a.Object)
	}
	return p.Graph.Tree(p.Graph.Heads(ids),
		graph.TreeOptions{Depth: -1, Show: func(id graph.ID) bool { return shown[id] }})
}

// NothingToCollect says that a run has nothing to do, as far as everything could be listed and
// read.
func NothingToCollect(listed, unread []v1alpha1.Gap) string {
	switch {
	case len(listed) > 0:
		return "nothing to collect in the types that could be listed"
	case len(unread) > 0:
		return "nothing to collect among the objects that could be read"
	}
	return "nothing to collect"
}
