package plan

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// dependentsFirst orders the roots so that one that another owns, directly or not, comes before it.
// By the time the owner is being deleted the dependent is too, and what becomes of it does not
// depend on how fast the collector is: it would otherwise take a reference to a waiting owner off a
// dependent that has another.
func dependentsFirst(g *graph.Graph, roots []graph.ID) []graph.ID {
	if len(roots) < 2 {
		return roots
	}
	depth := depths(g, roots)
	roots = slices.Compact(slices.Sorted(slices.Values(roots)))
	slices.SortStableFunc(roots, func(a, b graph.ID) int { return cmp.Compare(depth[a], depth[b]) })
	return roots
}

// Batches returns the deletes of the roots, in the order that the roots are planned in. Those of
// one batch own each other in no way, so they may be sent side by side; a batch is sent when the
// one before it is answered.
func (p *Plan) Batches() [][]Action {
	depth := depths(p.Graph, p.Roots)
	var batches [][]Action
	for _, a := range p.Actions {
		if a.Because.Code != Requested && a.Because.Code != Ordered {
			continue
		}
		for len(batches) <= depth[a.Object] {
			batches = append(batches, nil)
		}
		batches[depth[a.Object]] = append(batches[depth[a.Object]], a)
	}
	return batches
}

// depths counts for each root how many other roots are, one below the other, below it. Members of a
// cycle own each other both ways: each is one deeper than the one before.
func depths(g *graph.Graph, roots []graph.ID) map[graph.ID]int {
	depth := make(map[graph.ID]int, len(roots))
	isRoot := make(map[graph.ID]bool, len(roots))
	for _, r := range roots {
		isRoot[r] = true
	}
	above := map[graph.ID]int{}     // the depth of a root right above an object
	visited := map[int][]graph.ID{} // members of a cycle
	dependentsBeforeOwners(g, roots, func(id graph.ID) {
		members := []graph.ID{id}
		if cycle, ok := g.Cycle(id); ok {
			visited[cycle] = append(visited[cycle], id)
			if members = visited[cycle]; len(members) < len(g.Cycles()[cycle]) {
				return // what is below a cycle is known when all of it was visited
			}
		}
		d := 0
		for _, member := range members {
			for e := range g.Dependents(member) {
				d = max(d, above[e.Dependent])
			}
		}
		for _, member := range members {
			if isRoot[member] {
				depth[member] = d
				d++
			}
		}
		for _, member := range members {
			above[member] = d
		}
	})
	return depth
}

// dependentsBeforeOwners visits all that is at or below the given objects, each once and, but for
// where a cycle closes, after what is below it.
func dependentsBeforeOwners(g *graph.Graph, from []graph.ID, visit func(graph.ID)) {
	type step struct {
		id    graph.ID
		leave bool
	}
	visited := make([]bool, g.Len())
	for _, id := range slices.Sorted(slices.Values(from)) {
		stack := []step{{id: id}}
		for len(stack) > 0 {
			s := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			switch {
			case s.leave:
				visit(s.id)
			case !visited[s.id]:
				visited[s.id] = true
				stack = append(stack, step{s.id, true})
				for e := range g.Dependents(s.id) {
					stack = append(stack, step{id: e.Dependent})
				}
			}
		}
	}
}
