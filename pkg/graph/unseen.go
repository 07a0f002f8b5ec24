package graph

import (
	"maps"
	"slices"
)

// WithUnseen returns a graph that also has virtual nodes for objects that were named elsewhere than
// in an ownerReference and that are not among its objects, and their ids in the same order. Each is
// Absent if all of its type was listed where it would be, and Unknown otherwise. They stand behind
// all other nodes, which keep their ids; g does not change.
func (g *Graph) WithUnseen(named []Ref) (*Graph, []ID) {
	if len(named) == 0 {
		return g, nil
	}
	more := *g
	more.nodes, more.texts = g.nodes.clip(), g.texts.clip()
	more.gvks, more.coords, more.nsNames = slices.Clip(g.gvks), slices.Clip(g.coords), slices.Clip(g.nsNames)
	more.depStart, more.virtual = slices.Clip(g.depStart), maps.Clone(g.virtual)
	ids := make([]ID, len(named))
	for i, ref := range named {
		state := Unknown
		if g.resolver.observed(ref.APIVersion, ref.Kind, ref.Namespace) {
			state = Absent
		}
		id := int32(more.nodes.len())
		ns := more.namespace(ref.Namespace)
		more.virtual[id] = virtualNode{coord: int32(len(more.coords)), state: state}
		name := more.texts.add(ref.Name)
		more.coords = append(more.coords, coordinates{name: name, gvk: int32(len(more.gvks)), ns: ns})
		more.gvks = append(more.gvks, gvk{ref.APIVersion, ref.Kind})
		more.nodes.add(node{oddUID: true, name: name, listing: -1, ns: ns, owners: int32(len(g.edges))})
		more.depStart = append(more.depStart, more.depStart[len(more.depStart)-1])
		ids[i] = ID(id)
	}
	return &more, ids
}

// namespace returns the number of a namespace, and gives it one if it is new.
func (g *Graph) namespace(name string) int32 {
	if i := slices.Index(g.nsNames, name); i >= 0 {
		return int32(i)
	}
	g.nsNames = append(g.nsNames, name)
	return int32(len(g.nsNames) - 1)
}
