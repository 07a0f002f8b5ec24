package unfinalize

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

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
