package graph

import (
	"cmp"
	"iter"
	"slices"
	"sort"
)

// resolver says which type a reference means and whether all of that type was listed in a scope.
type resolver struct {
	types   []Type
	served  map[gvk]string
	exact   map[gvk]string
	byKind  map[gvk][]int32 // group in place of the apiVersion
	covered map[coverage]struct{}
}

type coverage struct{ group, resource, namespace string }

func newResolver(b *Builder) *resolver {
	r := &resolver{types: b.types, served: b.served, exact: b.exact, byKind: map[gvk][]int32{},
		covered: map[coverage]struct{}{}}
	for i, t := range b.types {
		key := gvk{t.Group, t.Kind}
		r.byKind[key] = append(r.byKind[key], int32(i))
	}
	for _, l := range b.listings {
		if l.state == complete {
			t := &b.types[l.typ]
			r.covered[coverage{t.Group, t.Resource, l.namespace}] = struct{}{}
		}
	}
	return r
}

// resolve returns the type that an apiVersion and kind mean, as a RESTMapper would: the version has
// to be served.
func (r *resolver) resolve(apiVersion, kind string) (int32, bool) {
	canonical, ok := r.served[gvk{apiVersion, kind}]
	if !ok {
		return -1, false
	}
	types := r.byKind[gvk{groupOf(apiVersion), canonical}]
	if len(types) == 0 {
		return -1, false
	}
	return types[0], true
}

// observed reports whether every type of that group and kind was listed completely in the scope in
// which a dependent's reference is resolved: its own namespace for a namespaced type, the cluster
// for the others, and everywhere for a cluster-scoped dependent's reference to a namespaced type,
// which can mean any namespace.
func (r *resolver) observed(apiVersion, kind, namespace string) bool {
	first, ok := r.resolve(apiVersion, kind)
	if !ok {
		return false
	}
	for _, id := range r.byKind[gvk{r.types[first].Group, r.types[first].Kind}] {
		t := &r.types[id]
		if !r.covers(t.Group, t.Resource, "") && (!t.Namespaced || namespace == "" || !r.covers(t.Group, t.Resource, namespace)) {
			return false
		}
	}
	return true
}

func (r *resolver) covers(group, resource, namespace string) bool {
	_, is := r.covered[coverage{group, resource, namespace}]
	return is
}

// Lists reports whether all objects of a resource were listed in a namespace, or everywhere.
func (g *Graph) Lists(group, resource, namespace string) bool {
	return g.resolver.covers(group, resource, "") || g.resolver.covers(group, resource, namespace)
}

// checkReferences marks what is wrong with each reference and decides for each virtual node whether
// it is absent or unknown.
func (g *Graph) checkReferences(virtual map[int32]int32, renumber []int32) {
	g.virtual = make(map[int32]virtualNode, len(virtual))
	for old, coord := range virtual {
		g.virtual[renumber[old]] = virtualNode{coord: coord, state: Absent}
	}
	meanings := g.meanings()
	for i := range g.edges {
		e := &g.edges[i]
		c := &g.coords[e.coord]
		m := &meanings[c.gvk]
		e.problem |= m.problem
		if e.owner == e.dependent {
			e.problem |= SelfReference
		}
		isVirtual := !g.Observed(ID(e.owner))
		// The collector goes by the kind that the reference names (GC-048), and only we by what the
		// owner is.
		namespaced := m.resolved && m.namespaced || !m.resolved && !isVirtual && g.namespaced(e.owner)
		if namespaced && !g.namespaced(e.dependent) {
			e.problem |= WrongScope
		}
		if isVirtual {
			v := g.virtual[e.owner]
			if v.state == Absent && !g.resolver.observed(g.gvks[c.gvk].apiVersion, g.gvks[c.gvk].kind, g.nsNames[c.ns]) {
				v.state = Unknown
				g.virtual[e.owner] = v
			}
			continue
		}
		e.problem |= g.compare(e, c, m)
	}
}

// meaning is what the apiVersion and kind of references mean.
type meaning struct {
	resolved, namespaced bool
	group, kind          string // as they are served
	problem              Problem
}

// meanings are those of each apiVersion and kind that references have.
func (g *Graph) meanings() []meaning {
	all := make([]meaning, len(g.gvks))
	for i, says := range g.gvks {
		m := &all[i]
		typ, resolved := g.resolver.resolve(says.apiVersion, says.kind)
		m.resolved, m.group, m.kind = resolved, groupOf(says.apiVersion), g.resolver.served[says]
		switch {
		case !resolved:
			m.problem = Unresolvable
		case g.resolver.exact[says] == "":
			m.problem = InexactKind
		}
		m.namespaced = resolved && g.types[typ].Namespaced
	}
	return all
}

// compare holds a reference against the owner that has its uid.
func (g *Graph) compare(e *edge, c *coordinates, m *meaning) Problem {
	var p Problem
	owner := g.nodes.at(e.owner)
	if owner.name != c.name && g.texts.get(owner.name) != g.texts.get(c.name) {
		p |= WrongName
	}
	if m.resolved && !g.listedAs(e.owner, func(t *Type) bool { return t.Group == m.group && t.Kind == m.kind }) {
		p |= WrongKind
	}
	if g.namespaced(e.owner) && g.namespaced(e.dependent) && owner.ns != g.nodes.at(e.dependent).ns {
		p |= WrongNamespace
	}
	return p
}

// listedAs reports whether one of the types under which a seen node was listed matches.
func (g *Graph) listedAs(id int32, match func(*Type) bool) bool {
	if match(&g.types[g.listings[g.nodes.at(id).listing].typ]) {
		return true
	}
	return slices.ContainsFunc(g.aliases[id], func(list int32) bool { return match(&g.types[g.listings[list].typ]) })
}

// namespaced reports whether a seen node's type is namespaced.
func (g *Graph) namespaced(id int32) bool {
	return g.types[g.listings[g.nodes.at(id).listing].typ].Namespaced
}

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

// Scope reports whether a resource is namespaced, and whether the graph knows its type at all.
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

// compareKind says whether a node stands before, at or behind the objects of a kind in a
// namespace.
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

// is reports whether a node was seen as an object of a group and resource.
func (g *Graph) is(id ID, group, resource string) bool {
	return g.Observed(id) && g.listedAs(int32(id),
		func(t *Type) bool { return t.Group == group && t.Resource == resource })
}
