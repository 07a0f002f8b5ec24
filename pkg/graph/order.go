package graph

import (
	"cmp"
	"slices"
)

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
