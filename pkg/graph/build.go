package graph

import (
	"cmp"
	"slices"
)

// Build returns the graph of what was added. The Builder must not be used afterwards.
func (b *Builder) Build() *Graph {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settleListings()
	g := &Graph{types: b.types, listings: b.listings, nsNames: b.nsNames, finLists: b.finLists, coords: b.coords,
		gvks: b.gvks}
	g.resolver = newResolver(b)

	virtual := b.virtualNodes()
	order := b.order(virtual)
	renumber := make([]int32, b.nodes.len())
	for i := range renumber {
		renumber[i] = -1
	}
	for i, old := range order {
		renumber[old] = int32(i)
	}
	b.nodes.permute(order)
	g.nodes, g.texts = b.nodes, b.texts
	edges := 0
	for i := range g.nodes.len() {
		edges += int(g.nodes.at(int32(i)).ownerCount)
	}
	g.edges = make([]edge, 0, edges)
	for i := range g.nodes.len() {
		n := g.nodes.at(int32(i))
		first := int32(len(g.edges))
		for _, e := range b.edges[n.owners : n.owners+n.ownerCount] {
			e.owner, e.dependent = renumber[e.owner], int32(i)
			g.edges = append(g.edges, e)
		}
		n.owners = first
	}
	b.edges = nil
	b.byUID.renumber(renumber)
	g.byUID = b.byUID
	g.versions = make(map[int32]string, len(b.versions))
	for old, version := range b.versions {
		if id := renumber[old]; id >= 0 {
			g.versions[id] = version
		}
	}
	g.aliases = map[int32][]int32{}
	for old, lists := range b.aliases {
		if id := renumber[old]; id >= 0 {
			g.aliases[id] = lists
		}
	}
	g.annotations = make(map[int32]map[string]string, len(b.annotations))
	for old, set := range b.annotations {
		if id := renumber[old]; id >= 0 {
			g.annotations[id] = set
		}
	}
	g.sorted = g.nodes.len()
	g.indexDependents()
	g.checkReferences(virtual, renumber)
	g.indexPlaces()
	g.findCycles()
	return g
}

// settleListings makes nodes whose listing was discarded virtual again, or moves them to the least
// of the other listings that saw them.
func (b *Builder) settleListings() {
	const none = -1
	gone := func(list int32) bool { return list == none || b.listings[list].state == discarded }
	typeOf := func(list int32) Type { return b.types[b.listings[list].typ] }
	for i := range b.nodes.len() {
		n := b.nodes.at(int32(i))
		if n.listing == none {
			continue
		}
		if gone(n.listing) {
			n.listing = none
		}
		if others, ok := b.aliases[int32(i)]; ok {
			others = slices.DeleteFunc(others, gone)
			for j, list := range others {
				if n.listing == none || typeOf(list).less(typeOf(n.listing)) {
					n.listing, others[j] = list, n.listing
				}
			}
			b.aliases[int32(i)] = slices.DeleteFunc(others, gone)
		}
		if n.listing == none {
			*n = node{uid: n.uid, oddUID: n.oddUID, listing: none}
			delete(b.versions, int32(i))
			delete(b.aliases, int32(i))
			delete(b.annotations, int32(i))
		}
	}
}

// virtualNodes returns the nodes that were referenced by a seen object and not seen themselves,
// each with the least of the coordinates that its dependents give, and names them so.
func (b *Builder) virtualNodes() map[int32]int32 {
	virtual := map[int32]int32{}
	for i := range b.nodes.len() {
		n := b.nodes.at(int32(i))
		if n.listing < 0 {
			continue
		}
		for _, e := range b.edges[n.owners : n.owners+n.ownerCount] {
			if b.nodes.at(e.owner).listing >= 0 {
				continue
			}
			if c, ok := virtual[e.owner]; !ok || b.compareCoordinates(e.coord, c) < 0 {
				virtual[e.owner] = e.coord
			}
		}
	}
	for id, c := range virtual {
		b.nodes.at(id).name = b.coords[c].name
	}
	return virtual
}

func (b *Builder) compareCoordinates(i, j int32) int {
	x, y := &b.coords[i], &b.coords[j]
	return cmp.Or(
		cmp.Compare(b.gvks[x.gvk].kind, b.gvks[y.gvk].kind),
		cmp.Compare(b.gvks[x.gvk].apiVersion, b.gvks[y.gvk].apiVersion),
		cmp.Compare(b.nsNames[x.ns], b.nsNames[y.ns]),
		cmp.Compare(b.texts.get(x.name), b.texts.get(y.name)),
	)
}

// indexDependents lays the edges out by owner. Edges stand in the order of their dependents, and so
// does each bucket.
func (g *Graph) indexDependents() {
	g.depStart = make([]int32, g.nodes.len()+1)
	for i := range g.edges {
		g.depStart[g.edges[i].owner+1]++
	}
	for i := 1; i < len(g.depStart); i++ {
		g.depStart[i] += g.depStart[i-1]
	}
	next := slices.Clone(g.depStart)
	g.dependents = make([]int32, len(g.edges))
	for i := range g.edges {
		o := g.edges[i].owner
		g.dependents[next[o]] = int32(i)
		next[o]++
	}
}

// order returns the nodes to keep, sorted by namespace, group, kind, name and uid. A virtual node
// of a type that is known to be cluster-scoped has no namespace, any other is taken to be where its
// dependent is.
//
// Of a type in a namespace they have come in the order of their names, as lists have them: so there
// is next to nothing to compare.
func (b *Builder) order(virtual map[int32]int32) []int32 {
	r := newResolver(b)
	for id, c := range virtual {
		n := b.nodes.at(id)
		n.ns = b.coords[c].ns
		says := b.gvks[b.coords[c].gvk]
		if t, ok := r.resolve(says.apiVersion, says.kind); ok && !b.types[t].Namespaced {
			n.ns = 0
		}
	}
	order := make([]int32, 0, b.nodes.len())
	for i := range b.nodes.len() {
		if _, isVirtual := virtual[int32(i)]; isVirtual || b.nodes.at(int32(i)).listing >= 0 {
			order = append(order, int32(i))
		}
	}
	ofTypes, ofReferences, kinds := b.kindRanks()
	kind := func(id int32) int32 {
		if l := b.nodes.at(id).listing; l >= 0 {
			return ofTypes[b.listings[l].typ]
		}
		return ofReferences[b.coords[virtual[id]].gvk]
	}
	ofNamespaces, namespaces := ranks(b.nsNames, cmp.Compare)
	order = byRank(order, kinds, kind)
	order = byRank(order, namespaces, func(id int32) int32 { return ofNamespaces[b.nodes.at(id).ns] })
	names := func(x, y int32) int {
		p, q := b.nodes.at(x), b.nodes.at(y)
		if c := cmp.Compare(b.texts.get(p.name), b.texts.get(q.name)); c != 0 {
			return c
		}
		return cmp.Compare(b.texts.uidOf(p), b.texts.uidOf(q))
	}
	for first := 0; first < len(order); {
		ns, of, last := b.nodes.at(order[first]).ns, kind(order[first]), first+1
		for last < len(order) && b.nodes.at(order[last]).ns == ns && kind(order[last]) == of {
			last++
		}
		if run := order[first:last]; !slices.IsSortedFunc(run, names) {
			slices.SortFunc(run, names)
		}
		first = last
	}
	return order
}

// kindRanks returns the ranks of the kinds of the types, and of those that references name, and how
// many ranks there are. Versions and resources do not part what stands together.
func (b *Builder) kindRanks() (ofTypes, ofReferences []int32, n int) {
	kinds := make([]groupKind, 0, len(b.types)+len(b.gvks))
	for _, t := range b.types {
		kinds = append(kinds, groupKind{t.Group, t.Kind})
	}
	for _, says := range b.gvks {
		kinds = append(kinds, groupKind{groupOf(says.apiVersion), says.kind})
	}
	all, n := ranks(kinds, func(x, y groupKind) int {
		return cmp.Or(cmp.Compare(x.group, y.group), cmp.Compare(x.kind, y.kind))
	})
	return all[:len(b.types)], all[len(b.types):], n
}

// ranks returns the place of each in the order of all, which is the same for equals, and how many
// places there are.
func ranks[T any](all []T, compare func(x, y T) int) (places []int32, n int) {
	order := make([]int32, len(all))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(x, y int32) int { return compare(all[x], all[y]) })
	places = make([]int32, len(all))
	for i, at := range order {
		if i > 0 && compare(all[order[i-1]], all[at]) != 0 {
			n++
		}
		places[at] = int32(n)
	}
	return places, n + 1
}

// byRank sorts nodes by a rank below n, and keeps the order of those of one rank. It takes as many
// steps as there are nodes and ranks.
func byRank(ids []int32, n int, rank func(int32) int32) []int32 {
	next := make([]int32, n+1)
	for _, id := range ids {
		next[rank(id)+1]++
	}
	for i := range n {
		next[i+1] += next[i]
	}
	sorted := make([]int32, len(ids))
	for _, id := range ids {
		r := rank(id)
		sorted[next[r]] = id
		next[r]++
	}
	return sorted
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
