package graph

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Builder collects listed objects and turns them into a Graph. Its methods, and those of its
// Listings, may be called from several goroutines.
type Builder struct {
	mu       sync.Mutex
	types    []Type
	typeIDs  map[Type]int32
	served   map[gvk]string // every spelling that a RESTMapper resolves -> the kind
	exact    map[gvk]string // the kind as it is served -> the resource, empty if there are several
	listings []listing
	byUID    index
	nodes    nodes
	texts    texts
	versions map[int32]string // of the few nodes whose resourceVersion is no number
	// the owner references of one object stand together; those of an object that was added again
	// are left behind
	edges    []edge
	coords   []coordinates
	coordIDs index
	kinds    map[gvk]int32 // index in gvks
	gvks     []gvk
	nsIDs    map[string]int32
	nsNames  []string
	finIDs   map[string]int32
	finLists [][]string
	aliases  map[int32][]int32 // node -> listings in which its uid was seen besides its own
	// annotations are those of the few nodes that have any; annotationSets has each set of them
	// once, since many objects have the same.
	annotations    map[int32]map[string]string
	annotationSets map[string]map[string]string
}

type gvk struct{ apiVersion, kind string }

type listing struct {
	typ       int32
	namespace string // "" lists all there is of the type
	state     listingState
}

type listingState uint8

const (
	partial listingState = iota
	complete
	discarded
)

type edge struct {
	owner, dependent int32
	coord            int32
	flags            edgeFlags
	problem          Problem
}

type edgeFlags uint8

const (
	controller edgeFlags = 1 << iota
	block
)

// coordinates are what a reference says besides the uid, with the namespace it is resolved in.
type coordinates struct {
	name text
	gvk  int32
	ns   int32 // of the dependent
}

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder {
	return &Builder{
		typeIDs:  map[Type]int32{},
		served:   map[gvk]string{},
		exact:    map[gvk]string{},
		versions: map[int32]string{},
		kinds:    map[gvk]int32{},
		nsIDs:    map[string]int32{"": 0},
		nsNames:  []string{""},
		finIDs:   map[string]int32{"": 0},
		finLists: [][]string{nil},
		aliases:  map[int32][]int32{},

		annotations:    map[int32]map[string]string{},
		annotationSets: map[string]map[string]string{},
	}
}

// Serve records that the server serves the type, in its own version and in the given others, so
// that references to it can be resolved. A type that is served and never listed is one whose
// objects are unknown.
func (b *Builder) Serve(t Type, otherVersions ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.typeID(t)
	b.serve(t)
	for _, v := range otherVersions {
		t.Version = v
		b.serve(t)
	}
}

// serve registers the spellings of a kind that name it: references with a lower-case kind exist and
// work. The mappings that client-go's RESTMapper makes up besides, such as PodList, lead to
// endpoints that do not exist, and prove nothing (API-057, T-02).
func (b *Builder) serve(t Type) {
	key := gvk{t.APIVersion(), t.Kind}
	if resource, served := b.exact[key]; served && resource != t.Resource {
		b.exact[key] = ""
	} else {
		b.exact[key] = t.Resource
	}
	for _, kind := range []string{t.Kind, strings.ToLower(t.Kind)} {
		if _, taken := b.served[gvk{t.APIVersion(), kind}]; !taken || kind == t.Kind {
			b.served[gvk{t.APIVersion(), kind}] = t.Kind
		}
	}
}

func (b *Builder) typeID(t Type) int32 {
	id, ok := b.typeIDs[t]
	if !ok {
		id = int32(len(b.types))
		b.types = append(b.types, t)
		b.typeIDs[t] = id
	}
	return id
}

// Listing is the listing of one type in one scope. What was added to it counts as seen even if it
// never completes; only a complete one makes what it did not contain absent.
type Listing struct {
	b  *Builder
	id int32
}

// Listing begins the listing of a type in a namespace, or everywhere if namespace is empty.
func (b *Builder) Listing(t Type, namespace string) *Listing {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listings = append(b.listings, listing{typ: b.typeID(t), namespace: namespace})
	return &Listing{b: b, id: int32(len(b.listings) - 1)}
}

// Complete says that all of the type in that scope was added.
func (l *Listing) Complete() { l.set(complete) }

// Discard takes back all that was added, for a list that has to be started again.
func (l *Listing) Discard() { l.set(discarded) }

func (l *Listing) set(s listingState) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	l.b.listings[l.id].state = s
}

// Add adds objects to the listing. It keeps the strings and none of the slices and maps.
func (l *Listing) Add(objects ...Object) {
	b := l.b
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range objects {
		b.add(l.id, &objects[i])
	}
}

func (b *Builder) add(list int32, o *Object) {
	id := b.slot(b.key(list, o))
	n := b.nodes.at(id)
	if n.listing >= 0 && n.listing != list && b.listings[n.listing].state != discarded {
		// One object served under two group-resources is one node (GC-020, GC-032). Lists run in
		// parallel, so which comes first must not decide: the lesser type does.
		if b.types[b.listings[n.listing].typ].compare(b.types[b.listings[list].typ]) < 0 {
			b.aliases[id] = append(b.aliases[id], list)
			return
		}
		b.aliases[id] = append(b.aliases[id], n.listing)
	}
	n.listing, n.name = list, b.texts.add(o.Name)
	b.version(id, o.ResourceVersion)
	n.creationTimestamp, n.deletionTimestamp, n.generation = o.CreationTimestamp, o.DeletionTimestamp, o.Generation
	n.selected = o.Selected
	b.annotate(id, o.Annotations)
	n.ns = b.namespace(o.Namespace)
	n.finalizers = b.finalizerList(o.Finalizers)
	n.owners, n.ownerCount = int32(len(b.edges)), int32(len(o.Owners))
	ns := n.ns
	for i := range o.Owners {
		r := &o.Owners[i]
		e := edge{owner: b.slot(r.UID), dependent: id, coord: b.coordinate(r, ns)}
		if r.Controller {
			e.flags |= controller
		}
		if r.Block {
			e.flags |= block
		}
		b.edges = append(b.edges, e)
	}
}

// key is the uid, or for the odd server that gives none a key that no uid can equal.
func (b *Builder) key(list int32, o *Object) string {
	if o.UID != "" {
		return o.UID
	}
	t := b.types[b.listings[list].typ]
	return strings.Join([]string{"", t.Group, t.Resource, o.Namespace, o.Name}, "\x00")
}

// slot returns the node of a uid, a virtual one if it is new.
func (b *Builder) slot(s string) int32 {
	u, usual := parseUID(s)
	hash := hashUID(u, usual, s)
	id, ok := b.byUID.find(hash, func(id int32) bool { return b.texts.isUID(b.nodes.at(id), u, usual, s) })
	if !ok {
		if !usual {
			u = oddUID(b.texts.add(s))
		}
		id = b.nodes.add(node{uid: u, oddUID: !usual, listing: -1})
		b.byUID.add(hash, id)
	}
	return id
}

// version notes the resourceVersion of a node. Each that an API server makes is a number; others
// are kept as they are.
func (b *Builder) version(id int32, s string) {
	n := b.nodes.at(id)
	delete(b.versions, id)
	v, err := strconv.ParseUint(s, 10, 64)
	if n.version = v; err != nil || v == 0 || s[0] == '0' || s[0] == '+' {
		n.version = 0
		if s != "" {
			b.versions[id] = strings.Clone(s)
		}
	}
}

func (b *Builder) namespace(name string) int32 {
	id, ok := b.nsIDs[name]
	if !ok {
		id = int32(len(b.nsNames))
		name = strings.Clone(name)
		b.nsNames = append(b.nsNames, name)
		b.nsIDs[name] = id
	}
	return id
}

func (b *Builder) finalizerList(list []string) int32 {
	if len(list) == 0 {
		return 0
	}
	key := strings.Join(list, "\x00") + "\x00"
	id, ok := b.finIDs[key]
	if !ok {
		id = int32(len(b.finLists))
		b.finLists = append(b.finLists, strings.Split(key[:len(key)-1], "\x00"))
		b.finIDs[key] = id
	}
	return id
}

func (b *Builder) coordinate(r *OwnerReference, ns int32) int32 {
	says := gvk{r.APIVersion, r.Kind}
	kind, ok := b.kinds[says]
	if !ok {
		kind = int32(len(b.gvks))
		b.gvks = append(b.gvks, says)
		b.kinds[says] = kind
	}
	hash := hashCoordinates(kind, ns, r.Name)
	id, ok := b.coordIDs.find(hash, func(id int32) bool {
		c := &b.coords[id]
		return c.gvk == kind && c.ns == ns && b.texts.get(c.name) == r.Name
	})
	if !ok {
		id = int32(len(b.coords))
		b.coords = append(b.coords, coordinates{name: b.texts.add(r.Name), gvk: kind, ns: ns})
		b.coordIDs.add(hash, id)
	}
	return id
}

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
