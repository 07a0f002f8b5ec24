package graph

import (
	"slices"
)

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
