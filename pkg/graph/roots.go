package graph

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
