package graph

import (
	"cmp"
	"slices"
)

// order returns the nodes to keep, sorted by namespace, group, kind, name and uid. A virtual node
// of a type that is known to be cluster-scoped has no namespace, any other is taken to be where its
// dependent is. Ranks are compared in the place of the names of namespaces and kinds.
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
	ofTypes, ofReferences := b.kindRanks()
	kind := func(id int32) int32 {
		if l := b.nodes.at(id).listing; l >= 0 {
			return ofTypes[b.listings[l].typ]
		}
		return ofReferences[b.coords[virtual[id]].gvk]
	}
	ofNamespaces := ranks(b.nsNames, cmp.Compare)
	slices.SortFunc(order, func(x, y int32) int {
		p, q := b.nodes.at(x), b.nodes.at(y)
		if c := cmp.Or(cmp.Compare(ofNamespaces[p.ns], ofNamespaces[q.ns]), cmp.Compare(kind(x), kind(y))); c != 0 {
			return c
		}
		if c := cmp.Compare(b.texts.get(p.name), b.texts.get(q.name)); c != 0 {
			return c
		}
		return cmp.Compare(b.texts.uidOf(p), b.texts.uidOf(q))
	})
	return order
}

// kindRanks returns the ranks of the kinds of the types, and of those that references name. Versions
// and resources do not part what stands together.
func (b *Builder) kindRanks() (ofTypes, ofReferences []int32) {
	kinds := make([]groupKind, 0, len(b.types)+len(b.gvks))
	for _, t := range b.types {
		kinds = append(kinds, groupKind{t.Group, t.Kind})
	}
	for _, says := range b.gvks {
		kinds = append(kinds, groupKind{groupOf(says.apiVersion), says.kind})
	}
	all := ranks(kinds, func(x, y groupKind) int {
		return cmp.Or(cmp.Compare(x.group, y.group), cmp.Compare(x.kind, y.kind))
	})
	return all[:len(b.types)], all[len(b.types):]
}

// ranks returns the place of each in the order of all, which is the same for equals.
func ranks[T any](all []T, compare func(x, y T) int) []int32 {
	order := make([]int32, len(all))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(x, y int32) int { return compare(all[x], all[y]) })
	places := make([]int32, len(all))
	for i, at := range order {
		if i > 0 {
			places[at] = places[order[i-1]]
			if compare(all[order[i-1]], all[at]) != 0 {
				places[at]++
			}
		}
	}
	return places
}
