package render

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/page"
)

// TreePage returns the page of a tree. Its title is the command. What is known of the finalizers,
// and why objects still exist, is not on it yet.
func TreePage(title string, t Tree, gaps []v1alpha1.Gap, upwards bool) *page.Page {
	p, _ := t.page(title, gaps)
	p.Upwards, p.Complete = upwards, len(gaps) == 0
	return p
}

// page returns the page of a tree, and where each object is on it.
func (t Tree) page(title string, gaps []v1alpha1.Gap) (*page.Page, map[graph.ID]int) {
	p := &page.Page{
		Title: title, Made: t.Now.UTC().Format(time.RFC3339), Gaps: append([]v1alpha1.Gap{}, gaps...), Risks: risks,
		Objects: []page.Object{}, Edges: []page.Edge{}, Known: []v1alpha1.ExplainedFinalizer{}, Stuck: []v1alpha1.Stuck{},
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

func (t Tree) pageObject(row graph.Row) page.Object {
	g, id, reading := t.Graph, row.ID, t.Readings[row.ID]
	_, cycle := g.Cycle(id)
	o := page.Object{
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
		o.Finalizers = append(o.Finalizers, page.Finalizer{Name: name})
	}
	return o
}

// pageEdges adds the references and links between the objects of a page, and to each object the
// owners that are not there.
func (t Tree) pageEdges(p *page.Page, at map[graph.ID]int) {
	nodes, edges := t.parts()
	for _, id := range nodes {
		for e := range t.Graph.Owners(id) {
			reference := page.Reference{Controller: e.Controller, BlockOwnerDeletion: e.Block, Problems: e.Problem.Names()}
			if owner, shown := at[e.Owner]; shown {
				p.Edges = append(p.Edges, page.Edge{Owner: owner, Dependent: at[id], Reference: reference})
				continue
			}
			o := &p.Objects[at[id]]
			o.Elsewhere = append(o.Elsewhere,
				page.Owner{ObjectRef: t.Graph.Ref(e.Owner), Reference: reference})
		}
	}
	for _, e := range edges {
		if e.link != "" {
			p.Edges = append(p.Edges, page.Edge{Owner: at[e.owner], Dependent: at[e.dependent], Link: e.link})
		}
	}
}
