package graph

import (
	"slices"
)

// Heads returns the fewest of the nodes from which all of them can be reached downwards, in the
// order given: those that no other of them owns, directly or not, and of a cycle the first.
func (g *Graph) Heads(ids []ID) []ID {
	return heads(ids, g.nodes.len(), func(id ID, visit func(ID)) {
		for e := range g.Dependents(id) {
			visit(e.Dependent)
		}
	})
}

// heads is Heads for any direction; next calls its function with the nodes that are one edge
// further.
func heads(ids []ID, nodes int, next func(ID, func(ID))) []ID {
	// What is left after the first pass leads to nothing that stands after it, but maybe to
	// something before it.
	first := unreached(ids, nodes, next)
	slices.Reverse(first)
	first = unreached(first, nodes, next)
	slices.Reverse(first)
	return first
}

// unreached returns the nodes that cannot be reached from one that stands before them.
func unreached(ids []ID, nodes int, next func(ID, func(ID))) []ID {
	var first, queue []ID
	reached := newMarks(len(ids), nodes)
	visit := func(id ID) {
		if reached.add(id) {
			queue = append(queue, id)
		}
	}
	for _, id := range ids {
		if reached.has(id) {
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

// marks is a set of nodes. One that begins with few of them costs what it holds and not what the
// graph has: there may be as many sets as namespaces.
type marks struct {
	few  map[ID]struct{}
	many []bool
}

// sparse is how many times as many nodes as a set begins with a graph has to have for the set to be
// a map.
const sparse = 16

func newMarks(begin, nodes int) marks {
	if begin > nodes/sparse {
		return marks{many: make([]bool, nodes)}
	}
	return marks{few: make(map[ID]struct{}, begin)}
}

func (m marks) has(id ID) bool {
	if m.many != nil {
		return m.many[id]
	}
	_, in := m.few[id]
	return in
}

// add is false if the node was in the set already.
func (m marks) add(id ID) bool {
	if m.has(id) {
		return false
	}
	if m.many != nil {
		m.many[id] = true
	} else {
		m.few[id] = struct{}{}
	}
	return true
}
