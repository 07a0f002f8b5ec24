// Package protect finds the objects whose deletion would delete an object, and writes the policies that
// deny it.
package protect

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Guarded is an object whose deletion has to be denied so that another one stays.
type Guarded struct {
	ID graph.ID
	// Orphan says that a deletion with the policy Orphan would delete the other one, too.
	Orphan bool
}

// Guards returns the objects of which one DELETE would delete an object, the object itself first: those
// above it whose planned deletion, in the background or the foreground, takes it along. One that has
// another owner stays when only one of them is deleted (GC-046). Absent owners are nothing that can be
// deleted.
func Guards(g *graph.Graph, links *link.Links, id graph.ID) []Guarded {
	guards := []Guarded{{ID: id, Orphan: true}}
	for _, above := range ancestors(g, links, id) {
		loses := func(policy plan.Policy) bool {
			p := plan.New(g, []graph.ID{above}, policy, plan.Options{Links: links})
			return slices.Contains(p.Deleted, id) || slices.Contains(p.Unsettled, id) ||
				slices.ContainsFunc(p.Deadlocked, func(r plan.ObjectReason) bool { return r.Object == id })
		}
		if orphan := loses(plan.Orphan); orphan || loses(plan.Background) || loses(plan.Foreground) {
			guards = append(guards, Guarded{ID: above, Orphan: orphan})
		}
	}
	return guards
}

// ancestors returns what stands above an object: owners, what names it in a link, and what it goes with
// by a rule, as its namespace and its CRD; and what stands above that.
func ancestors(g *graph.Graph, links *link.Links, id graph.ID) []graph.ID {
	var ruled []graph.ID // those that others go with by a rule
	for i := range g.Len() {
		if _, has := link.Of(g.Ref(graph.ID(i))); has && g.Observed(graph.ID(i)) {
			ruled = append(ruled, graph.ID(i))
		}
	}
	found := []graph.ID{id}
	seen := map[graph.ID]bool{id: true}
	for next := 0; next < len(found); next++ {
		of := found[next]
		add := func(above graph.ID) {
			if !seen[above] && g.Observed(above) {
				seen[above] = true
				found = append(found, above)
			}
		}
		for e := range g.Owners(of) {
			add(e.Owner)
		}
		for _, l := range links.Owners(of) {
			add(l.Owner)
		}
		for _, above := range ruled {
			if !seen[above] && slices.Contains(links.Content(above), of) {
				add(above)
			}
		}
	}
	return found[1:]
}
