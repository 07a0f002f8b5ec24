package graph

import (
	"cmp"
	"slices"
)

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

// Cycles returns the ownership cycles: sets of nodes each of which owns, directly or not, every
// other, and nodes that own themselves. Each is sorted, and so is the list.
func (g *Graph) Cycles() [][]ID { return g.cycles }

// Cycle returns the number in Cycles of the cycle that the node is in.
func (g *Graph) Cycle(id ID) (int, bool) {
	c, ok := g.inCycle[int32(id)]
	return c, ok
}

// findCycles is Tarjan's algorithm for strongly connected components with a stack of its own: an
// owner chain can be as deep as somebody cares to make it.
func (g *Graph) findCycles() {
	const unvisited = -1
	index := make([]int32, g.nodes.len())
	low := make([]int32, g.nodes.len())
	onStack := make([]bool, g.nodes.len())
	for i := range index {
		index[i] = unvisited
	}
	type frame struct{ node, next int32 }
	var (
		counter int32
		stack   []int32
		frames  []frame
	)
	visit := func(v int32) {
		index[v], low[v] = counter, counter
		counter++
		stack = append(stack, v)
		onStack[v] = true
		frames = append(frames, frame{v, g.nodes.at(v).owners})
	}
	for root := range g.nodes.len() {
		if index[root] != unvisited || g.nodes.at(int32(root)).ownerCount == 0 {
			continue
		}
		visit(int32(root))
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			n := g.nodes.at(f.node)
			if f.next < n.owners+n.ownerCount {
				w := g.edges[f.next].owner
				f.next++
				switch {
				case index[w] == unvisited:
					visit(w)
				case onStack[w]:
					low[f.node] = min(low[f.node], index[w])
				}
				continue
			}
			v := f.node
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				parent := frames[len(frames)-1].node
				low[parent] = min(low[parent], low[v])
			}
			if low[v] == index[v] {
				stack = g.popComponent(stack, v, onStack)
			}
		}
	}
	for _, c := range g.cycles {
		slices.Sort(c)
	}
	slices.SortFunc(g.cycles, func(a, b []ID) int { return cmp.Compare(a[0], b[0]) })
	g.inCycle = map[int32]int{}
	for i, c := range g.cycles {
		for _, id := range c {
			g.inCycle[int32(id)] = i
		}
	}
}

// popComponent takes the component of v off the stack and keeps it if it is a cycle.
func (g *Graph) popComponent(stack []int32, v int32, onStack []bool) []int32 {
	top := len(stack)
	for {
		top--
		onStack[stack[top]] = false
		if stack[top] == v {
			break
		}
	}
	if component := stack[top:]; len(component) > 1 || g.ownsItself(v) {
		cycle := make([]ID, len(component))
		for i, id := range component {
			cycle[i] = ID(id)
		}
		g.cycles = append(g.cycles, cycle)
	}
	return stack[:top]
}

func (g *Graph) ownsItself(v int32) bool {
	n := g.nodes.at(v)
	return slices.ContainsFunc(g.edges[n.owners:n.owners+n.ownerCount], func(e edge) bool { return e.owner == v })
}
