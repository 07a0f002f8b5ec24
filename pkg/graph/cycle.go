package graph

import (
	"cmp"
	"slices"
)

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
