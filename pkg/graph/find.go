package graph

import (
	"cmp"
	"iter"
	"slices"
	"sort"
)

type groupResource struct{ group, resource string }

// groupKind is where the nodes of a type stand in the order of the graph.
type groupKind struct{ group, kind string }

type places struct {
	kinds      []groupKind
	namespaced bool
}

// indexPlaces notes for each resource where its objects stand: with their own kind, or, where an
// object is served under two resources, with that of the other (GC-020). There are as many entries
// as types, not objects.
func (g *Graph) indexPlaces() {
	g.places = make(map[groupResource]places, len(g.types))
	known := map[[2]int32]bool{}
	add := func(of, with int32) {
		if key := [2]int32{of, with}; !known[key] {
			known[key] = true
			t, other := &g.types[of], &g.types[with]
			key := groupResource{t.Group, t.Resource}
			p := g.places[key]
			g.places[key] = places{appendNew(p.kinds, groupKind{other.Group, other.Kind}), t.Namespaced}
		}
	}
	for i := range g.types {
		add(int32(i), int32(i))
	}
	for id, lists := range g.aliases {
		for _, list := range lists {
			add(g.listings[list].typ, g.listings[g.nodes.at(id).listing].typ)
		}
	}
}

// Scope says whether a resource is namespaced, and whether the graph knows its type at all.
func (g *Graph) Scope(group, resource string) (namespaced, known bool) {
	p, known := g.places[groupResource{group, resource}]
	return p.namespaced, known
}

func appendNew(all []groupKind, k groupKind) []groupKind {
	if slices.Contains(all, k) {
		return all
	}
	return append(all, k)
}

// Find returns the seen object of a group and resource by name, also by those under which it is a
// mirror of its like in another group. If an object was replaced while it was listed, there can be
// two with that name; the one created last is meant. It costs a binary search.
func (g *Graph) Find(group, resource, namespace, name string) (ID, bool) {
	var found ID
	ok := false
	for _, k := range g.places[groupResource{group, resource}].kinds {
		from := g.search(func(id int32) int {
			return cmp.Or(g.compareKind(id, namespace, k), cmp.Compare(g.Name(ID(id)), name))
		})
		for id := from; int(id) < g.sorted && g.Name(id) == name && g.compareKind(int32(id), namespace, k) == 0; id++ {
			if g.is(id, group, resource) && (!ok || g.CreationTimestamp(id) > g.CreationTimestamp(found)) {
				found, ok = id, true
			}
		}
	}
	return found, ok
}

// OfType iterates over the seen objects of a group and resource in a namespace, or over the
// cluster-scoped ones if namespace is empty. It costs a binary search and as many steps as there
// are objects of that kind in the namespace.
func (g *Graph) OfType(group, resource, namespace string) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for _, k := range g.places[groupResource{group, resource}].kinds {
			from := g.search(func(id int32) int { return g.compareKind(id, namespace, k) })
			for id := from; int(id) < g.sorted && g.compareKind(int32(id), namespace, k) == 0; id++ {
				if g.is(id, group, resource) && !yield(id) {
					return
				}
			}
		}
	}
}

// InNamespace iterates over the seen objects in a namespace, or over the cluster-scoped ones if it
// is empty. It costs a binary search and as many steps as there are nodes in the namespace.
func (g *Graph) InNamespace(namespace string) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		from := g.search(func(id int32) int { return cmp.Compare(g.nsNames[g.nodes.at(id).ns], namespace) })
		for id := from; int(id) < g.sorted && g.nsNames[g.nodes.at(int32(id)).ns] == namespace; id++ {
			if g.Observed(id) && !yield(id) {
				return
			}
		}
	}
}

// search returns the first node that does not stand before what is looked for, by the order of the
// graph.
func (g *Graph) search(compare func(id int32) int) ID {
	return ID(sort.Search(g.sorted, func(i int) bool { return compare(int32(i)) >= 0 }))
}

// compareKind says whether a node stands before, at or behind the objects of a kind in a namespace.
func (g *Graph) compareKind(id int32, namespace string, k groupKind) int {
	n := g.nodes.at(id)
	if c := cmp.Compare(g.nsNames[n.ns], namespace); c != 0 {
		return c
	}
	if v, ok := g.virtual[id]; ok {
		c := &g.gvks[g.coords[v.coord].gvk]
		return cmp.Or(cmp.Compare(groupOf(c.apiVersion), k.group), cmp.Compare(c.kind, k.kind))
	}
	t := &g.types[g.listings[n.listing].typ]
	return cmp.Or(cmp.Compare(t.Group, k.group), cmp.Compare(t.Kind, k.kind))
}

// is says whether a node was seen as an object of a group and resource.
func (g *Graph) is(id ID, group, resource string) bool {
	return g.Observed(id) && g.listedAs(int32(id),
		func(t *Type) bool { return t.Group == group && t.Resource == resource })
}
