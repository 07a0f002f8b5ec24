package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// TreePage returns the page of a tree. Its title is the command. What is known of the finalizers,
// and why objects still exist, is not on it yet.
func TreePage(title string, t Tree, gaps []v1alpha1.Gap, upwards bool) *Page {
	p, _ := t.page(title, gaps)
	p.Upwards, p.Complete = upwards, len(gaps) == 0
	return p
}

// page returns the page of a tree, and where each object is on it.
func (t Tree) page(title string, gaps []v1alpha1.Gap) (*Page, map[graph.ID]int) {
	p := &Page{
		Title: title, Made: t.Now.UTC().Format(time.RFC3339), Gaps: append([]v1alpha1.Gap{}, gaps...), Risks: risks,
		Objects: []PageObject{}, Edges: []PageEdge{}, Known: []v1alpha1.ExplainedFinalizer{}, Stuck: []v1alpha1.Stuck{},
		Unexamined: []v1alpha1.Gap{},
	}
	at := map[graph.ID]int{}
	var above []graph.ID
	for _, row := range t.Rows {
		above = append(above[:row.Indent], row.ID)
		if i, seen := at[row.ID]; seen {
			if row.Repeat == graph.First { // it was cut above
				p.Objects[i].Cut = row.Cut
			}
			continue
		}
		o := t.pageObject(row)
		if row.Indent > 0 {
			o.Parent = at[above[row.Indent-1]]
		}
		at[row.ID] = len(p.Objects)
		p.Objects = append(p.Objects, o)
	}
	t.pageEdges(p, at)
	return p, at
}

func (t Tree) pageObject(row graph.Row) PageObject {
	g, id, reading := t.Graph, row.ID, t.Readings[row.ID]
	_, cycle := g.Cycle(id)
	o := PageObject{
		ObjectRef: g.Ref(id), State: v1alpha1.State(g.State(id).String()), Ready: reading.Ready,
		Status: reading.Status, Failing: reading.Failing,
		Parent: -1, Root: row.Root, Cycle: cycle, Cut: row.Cut,
	}
	if g.CreationTimestamp(id) != 0 {
		o.Age = t.age(id)
	}
	if deleted := g.DeletionTimestamp(id); deleted != 0 {
		o.DeletingFor = t.since(deleted)
	}
	for _, name := range g.Finalizers(id) {
		o.Finalizers = append(o.Finalizers, PageFinalizer{Name: name})
	}
	return o
}

// pageEdges adds the references and links between the objects of a page, and to each object the
// owners that are not there.
func (t Tree) pageEdges(p *Page, at map[graph.ID]int) {
	nodes, edges := t.parts()
	for _, id := range nodes {
		for e := range t.Graph.Owners(id) {
			reference := PageReference{Controller: e.Controller, BlockOwnerDeletion: e.Block, Problems: e.Problem.Names()}
			if owner, shown := at[e.Owner]; shown {
				p.Edges = append(p.Edges, PageEdge{Owner: owner, Dependent: at[id], PageReference: reference})
				continue
			}
			o := &p.Objects[at[id]]
			o.Elsewhere = append(o.Elsewhere,
				PageOwner{ObjectRef: t.Graph.Ref(e.Owner), PageReference: reference})
		}
	}
	for _, e := range edges {
		if e.link != "" {
			p.Edges = append(p.Edges, PageEdge{Owner: at[e.owner], Dependent: at[e.dependent], Link: e.link})
		}
	}
}

// PlanPage returns the page of a plan: the tree of what is deleted, what else the plan touches, and
// what becomes of each object. All gaps are on it; those of the Plan decide whether it is complete.
// The digest, what is known of the finalizers, and why objects still exist, are not on it yet.
func PlanPage(title string, p Plan, gaps []v1alpha1.Gap, now time.Time) *Page {
	outcomes := p.outcomes()
	out, at := Tree{Graph: p.Graph, Rows: p.rowsOfAll(outcomes), Now: now}.page(title, gaps)
	out.Complete = len(p.Gaps) == 0
	for id, i := range at {
		o := outcomes[id]
		out.Objects[i].Outcome = &PageOutcome{Word: o.word.String(), Because: o.because, WaitsFor: o.heldBy,
			Policy: string(o.policy)}
	}
	out.Plan = &PagePlan{Policy: string(p.Policy), Summary: p.Summary(), Warnings: denials(p), Remarks: p.Remarks(),
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
func (p Plan) pageSteps(at map[graph.ID]int) []PageStep {
	number, word := func(a plan.Action) int { return a.Wave }, "wave"
	if len(p.Stages()) > 0 {
		number, word = func(a plan.Action) int { return a.Stage }, "stage"
	}
	actions := slices.Clone(p.Actions)
	slices.SortStableFunc(actions, func(a, b plan.Action) int { return cmp.Compare(number(a), number(b)) })
	steps, last := []PageStep{}, -1
	for _, a := range actions {
		if n := number(a); n != last || len(steps) == 0 {
			name := fmt.Sprintf("%s %d", word, n)
			if n == 0 {
				name = "before"
			}
			steps, last = append(steps, PageStep{Name: name}), n
		}
		step := &steps[len(steps)-1]
		step.Actions = append(step.Actions,
			PageAction{Verb: string(a.Verb), Object: at[a.Object], By: string(a.By), Because: p.Because(a.Object, a.Because)})
	}
	return steps
}
