package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/page"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// PlanPage returns the page of a plan: the tree of what is deleted, what else the plan touches, and
// what becomes of each object. All gaps are on it; those of the Plan decide whether it is complete.
// The digest, what is known of the finalizers, and why objects still exist, are not on it yet.
func PlanPage(title string, p Plan, gaps []v1alpha1.Gap, now time.Time) *page.Page {
	outcomes := p.outcomes()
	out, at := Tree{Graph: p.Graph, Rows: p.rowsOfAll(outcomes), Now: now}.page(title, gaps)
	out.Complete = len(p.Gaps) == 0
	for id, i := range at {
		o := outcomes[id]
		out.Objects[i].Outcome = &page.Outcome{Word: o.word.String(), Because: o.because, WaitsFor: o.heldBy,
			Policy: string(o.policy)}
	}
	out.Plan = &page.Plan{Policy: string(p.Policy), Summary: p.Summary(), Warnings: denials(p), Remarks: p.Remarks(),
		Steps: p.pageSteps(at)}
	return out
}

// rowsOfAll are the rows of the tree, and one for each object besides that something is done to or
// that is kept.
func (p Plan) rowsOfAll(outcomes outcomes) []graph.Row {
	var rows []graph.Row
	shown := map[graph.ID]bool{}
	if p.Rows != nil {
		rows = slices.Collect(p.Rows)
	}
	for _, row := range rows {
		shown[row.ID] = true
	}
	for _, id := range slices.Sorted(maps.Keys(outcomes)) {
		if !shown[id] {
			rows = append(rows, graph.Row{ID: id, Last: true})
		}
	}
	return rows
}

// pageSteps are the actions by wave, or by stage if the deletion has those.
func (p Plan) pageSteps(at map[graph.ID]int) []page.Step {
	number, word := func(a plan.Action) int { return a.Wave }, "wave"
	if len(p.Stages()) > 0 {
		number, word = func(a plan.Action) int { return a.Stage }, "stage"
	}
	actions := slices.Clone(p.Actions)
	slices.SortStableFunc(actions, func(a, b plan.Action) int { return cmp.Compare(number(a), number(b)) })
	steps, last := []page.Step{}, -1
	for _, a := range actions {
		if n := number(a); n != last || len(steps) == 0 {
			name := fmt.Sprintf("%s %d", word, n)
			if n == 0 {
				name = "before"
			}
			steps, last = append(steps, page.Step{Name: name}), n
		}
		step := &steps[len(steps)-1]
		step.Actions = append(step.Actions,
			page.Action{Verb: string(a.Verb), Object: at[a.Object], By: string(a.By), Because: p.Because(a.Object, a.Because)})
	}
	return steps
}
