package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// dependentsFirst orders the roots so that one that another owns, directly or not, comes before it. By the time the owner is being deleted
// the dependent is too, and what becomes of it does not depend on how fast the collector is: it would otherwise take a
// reference to a waiting owner off a dependent that has another.
func dependentsFirst(g *graph.Graph, roots []graph.ID) []graph.ID {
	if len(roots) < 2 {
		return roots
	}
	roots = slices.Compact(slices.Sorted(slices.Values(roots)))
	isRoot := make(map[graph.ID]bool, len(roots))
	for _, r := range roots {
		isRoot[r] = true
	}
	type step struct {
		id    graph.ID
		leave bool
	}
	visited := make([]bool, g.Len())
	order := make([]graph.ID, 0, len(roots))
	for _, r := range roots {
		stack := []step{{id: r}}
		for len(stack) > 0 {
			s := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			switch {
			case s.leave:
				if isRoot[s.id] {
					order = append(order, s.id)
				}
			case !visited[s.id]:
				visited[s.id] = true
				stack = append(stack, step{s.id, true})
				for e := range g.Dependents(s.id) {
					stack = append(stack, step{id: e.Dependent})
				}
			}
		}
	}
	return order
}
