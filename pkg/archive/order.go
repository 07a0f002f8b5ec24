package archive

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// ownersFirst orders sorted objects so that each comes after those of them that own it: its
// definition, its namespace, its owners in the order of its references. A cycle begins with the
// member that is reached first.
func ownersFirst(g *graph.Graph, links *link.Links, ids []graph.ID) []graph.ID {
	owners := make(map[graph.ID][]graph.ID, len(ids))
	for _, id := range ids {
		owners[id] = nil
	}
	for _, id := range ids {
		for _, l := range links.Dependents(id) {
			if _, wanted := owners[l.Dependent]; wanted {
				owners[l.Dependent] = append(owners[l.Dependent], id)
			}
		}
	}
	for _, id := range ids {
		for e := range g.Owners(id) {
			if _, wanted := owners[e.Owner]; wanted {
				owners[id] = append(owners[id], e.Owner)
			}
		}
	}
	order := make([]graph.ID, 0, len(ids))
	visited := make(map[graph.ID]bool, len(ids))
	var visit func(graph.ID)
	visit = func(id graph.ID) {
		if visited[id] {
			return
		}
		visited[id] = true
		for _, owner := range owners[id] {
			visit(owner)
		}
		order = append(order, id)
	}
	for _, id := range ids {
		visit(id)
	}
	return order
}
