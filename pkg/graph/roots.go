package graph

import "slices"

// Roots returns the nodes from which all others can be reached downwards: those without owners and,
// of each cycle that nothing outside owns, the first member.
func (g *Graph) Roots() []ID {
	fromOutside := make([]bool, len(g.cycles))
	for c, members := range g.cycles {
		for _, id := range members {
			for e := range g.Owners(id) {
				if oc, in := g.inCycle[int32(e.Owner)]; !in || oc != c {
					fromOutside[c] = true
				}
			}
		}
	}
	var roots []ID
	for i := range g.sorted {
		if g.nodes.at(int32(i)).ownerCount == 0 {
			roots = append(roots, ID(i))
		} else if c, in := g.inCycle[int32(i)]; in && !fromOutside[c] && g.cycles[c][0] == ID(i) {
			roots = append(roots, ID(i))
		}
	}
	return roots
}

// Related marks the seeds, everything that owns one of them and everything that one of them owns,
// directly or not.
func (g *Graph) Related(seed func(ID) bool) []bool {
	related := make([]bool, g.nodes.len())
	spread := func(next func(ID, func(ID))) {
		seen := make([]bool, g.nodes.len())
		var queue []ID
		for i := range g.nodes.len() {
			if seed(ID(i)) {
				seen[i] = true
				queue = append(queue, ID(i))
			}
		}
		for len(queue) > 0 {
			id := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			related[id] = true
			next(id, func(n ID) {
				if !seen[n] {
					seen[n] = true
					queue = append(queue, n)
				}
			})
		}
	}
	spread(func(id ID, visit func(ID)) {
		for e := range g.Owners(id) {
			visit(e.Owner)
		}
	})
	spread(func(id ID, visit func(ID)) {
		for e := range g.Dependents(id) {
			visit(e.Dependent)
		}
	})
	return related
}

// Heads returns the fewest of the nodes from which all of them can be reached downwards, in the
// order given: those that no other of them owns, directly or not, and of a cycle the first.
func (g *Graph) Heads(ids []ID) []ID {
	return heads(ids, func(id ID, visit func(ID)) {
		for e := range g.Dependents(id) {
			visit(e.Dependent)
		}
	})
}

// heads is Heads for any direction; next calls its function with the nodes that are one edge
// further.
func heads(ids []ID, next func(ID, func(ID))) []ID {
	// What is left after the first pass leads to nothing that stands after it, but maybe to
	// something before it.
	first := unreached(ids, next)
	slices.Reverse(first)
	first = unreached(first, next)
	slices.Reverse(first)
	return first
}

// unreached returns the nodes that cannot be reached from one that stands before them.
func unreached(ids []ID, next func(ID, func(ID))) []ID {
	var first, queue []ID
	reached := make(map[ID]bool, len(ids))
	visit := func(id ID) {
		if !reached[id] {
			reached[id] = true
			queue = append(queue, id)
		}
	}
	for _, id := range ids {
		if reached[id] {
			continue
		}
		first = append(first, id)
		visit(id)
		for len(queue) > 0 {
			id := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			next(id, visit)
		}
	}
	return first
}
