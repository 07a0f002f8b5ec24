package graph

import (
	"iter"
	"maps"
	"slices"
	"strconv"
)

// Graph is an immutable owner graph. Nodes are numbered in the order namespace, group, kind, name,
// uid, and everything that it iterates over comes in that order.
type Graph struct {
	types      []Type
	listings   []listing
	nsNames    []string
	finLists   [][]string
	gvks       []gvk
	coords     []coordinates
	nodes      nodes
	texts      texts
	versions   map[int32]string // of the few nodes whose resourceVersion is no number
	edges      []edge           // by dependent
	dependents []int32
	depStart   []int32
	byUID      index
	virtual    map[int32]virtualNode
	aliases    map[int32][]int32
	// annotations are those of the few nodes that have one that the listing was asked for.
	annotations map[int32]map[string]string
	resolver    *resolver
	places      map[groupResource]places
	cycles      [][]ID
	inCycle     map[int32]int
	// sorted is how many nodes stand in the order; those of WithUnseen come behind.
	sorted int
}

type virtualNode struct {
	coord int32
	state State
}

// ID numbers the nodes of one Graph, from 0 to Len-1.
type ID int32

// Edge is one ownerReference, seen from both ends.
type Edge struct {
	// Index numbers the references of a graph, from 0 to Edges-1; those of one object stand
	// together in their order.
	Index            int
	Owner, Dependent ID
	// APIVersion, Kind and Name are what the reference says, which need not be what the owner is.
	APIVersion, Kind, Name string
	Controller, Block      bool
	Problem                Problem
}

// Len returns the number of nodes, virtual ones included.
func (g *Graph) Len() int { return g.nodes.len() }

// IDs iterates over all nodes.
func (g *Graph) IDs() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for id := range ID(g.Len()) {
			if !yield(id) {
				return
			}
		}
	}
}

// Edges returns the number of ownerReferences of all seen objects.
func (g *Graph) Edges() int { return len(g.edges) }

// Lookup returns the node with the uid.
func (g *Graph) Lookup(uid string) (ID, bool) {
	u, usual := parseUID(uid)
	id, ok := g.byUID.find(hashUID(u, usual, uid),
		func(id int32) bool { return g.texts.isUID(g.nodes.at(id), u, usual, uid) })
	return ID(id), ok
}

// Ref returns what identifies a node.
func (g *Graph) Ref(id ID) Ref {
	n := g.nodes.at(int32(id))
	r := Ref{Namespace: g.nsNames[n.ns], Name: g.texts.get(n.name), UID: g.uid(n)}
	if v, ok := g.virtual[int32(id)]; ok {
		c := g.gvks[g.coords[v.coord].gvk]
		r.APIVersion, r.Kind = c.apiVersion, c.kind
		if t, ok := g.resolver.resolve(c.apiVersion, c.kind); ok {
			r.Resource = g.types[t].Resource
		}
		return r
	}
	t := &g.types[g.listings[n.listing].typ]
	r.APIVersion, r.Kind, r.Resource = t.APIVersion(), t.Kind, t.Resource
	return r
}

// Refs returns what identifies some nodes.
func (g *Graph) Refs(ids []ID) []Ref {
	refs := make([]Ref, len(ids))
	for i, id := range ids {
		refs[i] = g.Ref(id)
	}
	return refs
}

// UIDs returns the uids of some nodes, as a set: by them the objects are found in another graph.
func (g *Graph) UIDs(ids []ID) map[string]bool {
	uids := make(map[string]bool, len(ids))
	for _, id := range ids {
		uids[g.Ref(id).UID] = true
	}
	return uids
}

// SetOf returns the set of some nodes.
func SetOf(ids []ID) map[ID]bool {
	set := make(map[ID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// Name returns the node's name; for all that identifies it there is Ref, which costs more.
func (g *Graph) Name(id ID) string { return g.texts.get(g.nodes.at(int32(id)).name) }

// Namespace returns the node's namespace, empty for a cluster-scoped object.
func (g *Graph) Namespace(id ID) string { return g.nsNames[g.nodes.at(int32(id)).ns] }

// uid is empty for an object that the server gave none, whose key begins with a NUL.
func (g *Graph) uid(n *node) string {
	uid := g.texts.uidOf(n)
	if uid != "" && uid[0] == 0 {
		return ""
	}
	return uid
}

// Type returns the type of a node, false for a virtual node whose kind is not served.
func (g *Graph) Type(id ID) (Type, bool) {
	if v, ok := g.virtual[int32(id)]; ok {
		says := g.gvks[g.coords[v.coord].gvk]
		t, ok := g.resolver.resolve(says.apiVersion, says.kind)
		if !ok {
			return Type{}, false
		}
		return g.types[t], true
	}
	return g.types[g.listings[g.nodes.at(int32(id)).listing].typ], true
}

// Observed is false for a virtual node: one that was only referenced.
func (g *Graph) Observed(id ID) bool {
	return g.nodes.at(int32(id)).listing >= 0
}

// State returns what the snapshot says of the node's existence.
func (g *Graph) State(id ID) State {
	if v, ok := g.virtual[int32(id)]; ok {
		return v.state
	}
	if g.nodes.at(int32(id)).deletionTimestamp != 0 {
		return Deleting
	}
	return Active
}

// Finalizers returns the node's metadata.finalizers; the slice must not be changed.
func (g *Graph) Finalizers(id ID) []string { return g.finLists[g.nodes.at(int32(id)).finalizers] }

// ResourceVersion returns the resourceVersion the object was seen in, empty for a virtual node.
func (g *Graph) ResourceVersion(id ID) string {
	if v := g.nodes.at(int32(id)).version; v != 0 {
		return strconv.FormatUint(v, 10)
	}
	return g.versions[int32(id)]
}

// Generation returns metadata.generation, 0 for types that have none.
func (g *Graph) Generation(id ID) int64 { return g.nodes.at(int32(id)).generation }

// CreationTimestamp returns the creationTimestamp in seconds since the epoch, 0 for a virtual node.
func (g *Graph) CreationTimestamp(id ID) int64 { return g.nodes.at(int32(id)).creationTimestamp }

// DeletionTimestamp returns the deletionTimestamp in seconds since the epoch, 0 if the object is
// not being deleted.
func (g *Graph) DeletionTimestamp(id ID) int64 { return g.nodes.at(int32(id)).deletionTimestamp }

// Selected reports whether the object matched the label selector of its listing.
func (g *Graph) Selected(id ID) bool { return g.nodes.at(int32(id)).selected }

// Owners iterates over the node's ownerReferences in the order in which the object has them.
func (g *Graph) Owners(id ID) iter.Seq[Edge] {
	n := g.nodes.at(int32(id))
	return func(yield func(Edge) bool) {
		for i := n.owners; i < n.owners+n.ownerCount; i++ {
			if !yield(g.edge(i)) {
				return
			}
		}
	}
}

// Reference is what an edge stands for.
func (g *Graph) Reference(e Edge) OwnerReference {
	return OwnerReference{APIVersion: e.APIVersion, Kind: e.Kind, Name: e.Name, UID: g.Ref(e.Owner).UID,
		Controller: e.Controller, Block: e.Block}
}

// Place is where the reference of an edge stands in its object's list, from 0.
func (g *Graph) Place(e Edge) int { return e.Index - int(g.nodes.at(int32(e.Dependent)).owners) }

// OwnerCount returns the number of the node's ownerReferences.
func (g *Graph) OwnerCount(id ID) int { return int(g.nodes.at(int32(id)).ownerCount) }

// Dependents iterates over the ownerReferences that carry the node's uid, whatever else they say.
// An object with several such references comes once for each.
func (g *Graph) Dependents(id ID) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		for _, i := range g.dependents[g.depStart[id]:g.depStart[id+1]] {
			if !yield(g.edge(i)) {
				return
			}
		}
	}
}

// DependentCount returns the number of references that carry the node's uid.
func (g *Graph) DependentCount(id ID) int { return int(g.depStart[id+1] - g.depStart[id]) }

func (g *Graph) edge(i int32) Edge {
	e := &g.edges[i]
	c := &g.coords[e.coord]
	says := &g.gvks[c.gvk]
	return Edge{
		Index: int(i), Owner: ID(e.owner), Dependent: ID(e.dependent),
		APIVersion: says.apiVersion, Kind: says.kind, Name: g.texts.get(c.name),
		Controller: e.flags&controller != 0, Block: e.flags&block != 0, Problem: e.problem,
	}
}

// Types returns the types that were served or listed, sorted by group, kind and resource.
func (g *Graph) Types() []Type {
	types := slices.Clone(g.types)
	slices.SortStableFunc(types, Type.compare)
	return types
}

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

// State is what the snapshot says of a node's existence.
type State uint8

const (
	// Active means seen, without a deletionTimestamp.
	Active State = iota
	// Deleting means seen, with a deletionTimestamp.
	Deleting
	// Absent means referenced, and not among the objects of the type it is said to have, which was
	// listed completely in that scope. It is a statement about a snapshot, no proof: one takes a
	// live read (RO-004).
	Absent
	// Unknown means referenced, and in a place that could not be listed. Unknown is not absent.
	Unknown
)

var stateNames = [...]string{"Active", "Deleting", "Absent", "Unknown"}

// String returns the name of the state, as people and programs read it.
func (s State) String() string { return stateNames[s] }

// Problem is what is wrong with an ownerReference, as a set of bits.
type Problem uint8

const (
	// WrongNamespace means that the owner is in another namespace than the dependent. The collector
	// looks it up in the dependent's own and takes it for absent (GC-047).
	WrongNamespace Problem = 1 << iota
	// WrongScope means that a cluster-scoped dependent names a namespaced owner; the collector
	// never collects it (GC-048).
	WrongScope
	// WrongName means that the owner's uid is right and its name is not; the collector looks up the
	// name and takes the owner for absent (GC-046).
	WrongName
	// WrongKind means that the owner's uid is right and its kind or group is not.
	WrongKind
	// Unresolvable means that no served type has that apiVersion and kind; the collector retries
	// for ever and never acts (GC-050).
	Unresolvable
	// SelfReference means that the object names itself as its owner (GC-064).
	SelfReference
	// InexactKind means that the kind is spelled otherwise than the served one, or more than one
	// served type has it. The collector makes a guess; whoever does not guess cannot prove by it
	// that an owner is absent.
	InexactKind
)

var problemNames = [...]string{"WrongNamespace", "WrongScope", "WrongName", "WrongKind", "Unresolvable",
	"SelfReference", "InexactKind"}

// Names returns the names of the bits that are set, in a fixed order.
func (p Problem) Names() []string {
	var names []string
	for i, name := range problemNames {
		if p&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
