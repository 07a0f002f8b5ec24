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
	to := make([]int32, b.nodes.len())
	for i := range to {
		to[i] = -1
	}
	for i, old := range order {
		to[old] = int32(i)
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
			e.owner, e.dependent = to[e.owner], int32(i)
			g.edges = append(g.edges, e)
		}
		n.owners = first
	}
	b.edges = nil
	b.byUID.renumber(to)
	g.byUID = b.byUID
	g.versions, g.aliases, g.annotations = moved(b.versions, to), moved(b.aliases, to), moved(b.annotations, to)
	g.sorted = g.nodes.len()
	g.indexDependents()
	g.checkReferences(virtual, to)
	g.indexPlaces()
	g.findCycles()
	return g
}

// moved has what is noted of nodes by their new numbers, but for those that have none.
func moved[V any](of map[int32]V, to []int32) map[int32]V {
	by := make(map[int32]V, len(of))
	for old, v := range of {
		if id := to[old]; id >= 0 {
			by[id] = v
		}
	}
	return by
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
				if n.listing == none || typeOf(list).compare(typeOf(n.listing)) < 0 {
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
