package ownership

import (
	"cmp"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// search is one walk along ownerReferences, rules and links.
type search struct {
	client *cluster.Client
	Request
	rules *link.Links
	types []graph.Type // sorted
	kinds map[schema.GroupKind][]graph.Type
	// categories are those of discovery of a kind.
	categories map[schema.GroupKind][]string
	// downward are the links by the kinds of their sources, as far as sources are read when they
	// are reached; seek are those whose sources are read before, because what they name is above
	// them; makes are those about the dependents of a controller.
	downward map[schema.GroupKind][]*link.Definition
	lead     map[schema.GroupKind][]*link.Definition
	seek     map[schema.GroupKind][]*link.Definition
	makes    map[schema.GroupKind][]*link.Definition

	isRoot       map[graph.ID]bool
	reached      []bool
	reachedKinds map[schema.GroupKind]bool
	isSought     map[graph.Type]bool
	queue        []graph.ID // reached, and what is below is not yet
	waiting      []graph.ID // reached sources that are not read yet
	isRead       []bool
	isMeta       []bool // whose metadata was asked for
	metas        map[graph.ID]*unstructured.Unstructured
	links        []named
	below        map[graph.ID][]int // other links by source
	above        map[graph.ID][]int // seek links by end, which are indices of links
	unseen       map[graph.Ref]graph.ID
	// absent are the objects that are not there and that ownerReferences name, with the group alone
	// as APIVersion; nil until one is looked for.
	absent map[graph.Ref]graph.ID
	// lastUnseen is the lowest of the negative ids of ends that are not there.
	lastUnseen graph.ID
	gaps       []v1alpha1.Gap
	wider      bool
	// entered are what objects of namespaces that were not listed name.
	entered []graph.ID
	counts  map[graph.Type]int
	mu      sync.Mutex // guards gaps
}

// named is one link, before the graph has nodes for ends that are not there.
type named struct {
	link.Found
	source, end graph.Ref // meaningful if the id of that side is negative
	identity    link.Identity
	keep        []link.Keep
	// permits is the object without whose permission the end stays, if it is in the graph.
	permits []graph.ID
}

func newSearch(client *cluster.Client, catalog *cluster.Catalog, r Request) *search {
	s := &search{
		client: client, Request: r, rules: link.New(r.Graph), types: r.Graph.Types(),
		kinds: map[schema.GroupKind][]graph.Type{}, categories: map[schema.GroupKind][]string{},
		downward: map[schema.GroupKind][]*link.Definition{}, lead: map[schema.GroupKind][]*link.Definition{},
		seek: map[schema.GroupKind][]*link.Definition{}, makes: map[schema.GroupKind][]*link.Definition{},
		isRoot: graph.SetOf(r.Roots), reached: make([]bool, r.Graph.Len()),
		reachedKinds: map[schema.GroupKind]bool{}, isSought: map[graph.Type]bool{}, isRead: make([]bool, r.Graph.Len()),
		isMeta: make([]bool, r.Graph.Len()), metas: map[graph.ID]*unstructured.Unstructured{},
		above: map[graph.ID][]int{}, below: map[graph.ID][]int{}, unseen: map[graph.Ref]graph.ID{},
	}
	for _, t := range s.types {
		gk := groupKind(t)
		s.kinds[gk] = append(s.kinds[gk], t)
		resource, _ := catalog.Lookup(t.GroupResource())
		s.categories[gk] = append(s.categories[gk], resource.Categories...)
		for _, d := range r.Definitions {
			if !d.From.Matches(t.Group, t.Kind, resource.Categories) {
				continue
			}
			into := s.downward
			switch {
			case d.OfDependents():
				into = s.makes
			case d.Deletion.Of == link.Lead:
				into = s.lead
			case d.OwnerSide() == link.End:
				into = s.seek
			}
			if !slices.Contains(into[gk], d) {
				into[gk] = append(into[gk], d)
			}
		}
	}
	return s
}

func (s *search) groupKind(id graph.ID) schema.GroupKind {
	t, _ := s.Graph.Type(id)
	return groupKind(t)
}

// reach notes objects, and everything below them as far as it is known.
func (s *search) reach(ids ...graph.ID) {
	s.queue = append(s.queue, ids...)
	for len(s.queue) > 0 {
		id := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		if id < 0 || s.reached[id] {
			continue
		}
		s.reached[id] = true
		if s.Graph.Observed(id) {
			s.reachedKinds[s.groupKind(id)] = true
			if s.isSource(id) {
				s.waiting = append(s.waiting, id)
			}
		}
		for e := range s.Graph.Dependents(id) {
			s.queue = append(s.queue, e.Dependent)
		}
		for _, l := range s.rules.Dependents(id) {
			s.queue = append(s.queue, l.Dependent)
		}
		for _, i := range s.above[id] {
			s.queue = append(s.queue, s.links[i].Source)
		}
		for _, i := range s.below[id] {
			s.queue = append(s.queue, s.links[i].End)
		}
	}
}

// isSource reports whether links of the object are to be read. Of a kind that only "*" matches
// these are the roots alone.
func (s *search) isSource(id graph.ID) bool {
	if s.Reads != nil && !s.Reads(id) {
		return false
	}
	return slices.ContainsFunc(s.downward[s.groupKind(id)], func(d *link.Definition) bool {
		return !d.From.Anything() || s.isRoot[id]
	})
}

// unread takes the sources that were reached and not read, in the order of the graph.
func (s *search) unread() []graph.ID {
	sources := s.waiting
	s.waiting = nil
	slices.Sort(sources)
	return sources
}

// add notes what a source names by a link, and reaches it if the source was.
func (s *search) add(d *link.Definition, source graph.ID, o *unstructured.Unstructured, ends []link.Named) {
	identity, keep, permits := s.identity(source, o), d.KeepOf(o.Object), s.permits(d, o)
	for _, n := range ends {
		f := named{Found: link.Found{Definition: d, Source: source, Field: n.Field}, identity: identity, keep: keep,
			permits: permits}
		f.End, f.end = s.resolve(n)
		s.wider = s.wider || s.Scope != "" && s.leadsOut(f)
		if f.End >= 0 || !n.Optional {
			s.note(f, o)
		}
	}
}

// identity is what an end of a link can say of its source.
func (s *search) identity(source graph.ID, o *unstructured.Unstructured) link.Identity {
	gk := s.groupKind(source)
	return link.IdentityOf(gk.Group, gk.Kind, o)
}

// references are the ends that an object names by a link, without those of kinds that no end has.
func (s *search) references(d *link.Definition, o *unstructured.Unstructured) ([]link.Named, []link.Members, error) {
	ends, members, err := d.References(o.Object)
	ends = slices.DeleteFunc(ends, func(n link.Named) bool {
		categories, served := s.categories[schema.GroupKind{Group: n.Group, Kind: n.Kind}]
		return served && !n.CanBe(categories)
	})
	return ends, members, err
}

// understood are the references of an object of the graph. What cannot be understood is a gap.
func (s *search) understood(ref graph.Ref, d *link.Definition, o *unstructured.Unstructured) ([]link.Named,
	[]link.Members) {
	ends, members, err := s.references(d, o)
	if err != nil {
		s.gap(ref, d, err)
	}
	return ends, members
}

// canBe reports whether ends that are not named one by one can be of a type.
func (s *search) canBe(m link.Members, t graph.Type) bool {
	return m.CanBe(t.Group, t.Kind, s.categories[groupKind(t)])
}

// leadsOut reports whether there can be more at the end of a link than was listed: it is in another
// namespace, or it is cluster-scoped and goes with the source, and what it owns goes too, wherever
// that is.
func (s *search) leadsOut(f named) bool {
	if f.End < 0 {
		return s.isOut(f.end)
	}
	return s.Graph.Namespace(f.End) == "" && f.Definition.Deletion.Of == link.End
}

// isOut reports whether an object that was not listed can be in a namespace that was not. One of a
// kind that the server does not serve is in none.
func (s *search) isOut(ref graph.Ref) bool {
	return s.Scope != "" && ref.Resource != "" && ref.Namespace != "" && ref.Namespace != s.Scope
}

// note adds a link whose end is known.
func (s *search) note(f named, o *unstructured.Unstructured) {
	of := f.Source
	if f.Definition.Deletion.Of == link.Source {
		of = f.End
	}
	if of >= 0 {
		finalizers := s.Graph.Finalizers(of)
		f.Effect = f.Definition.EffectOf(o.Object, finalizers)
		if s.Foreground != nil && s.isRoot[of] && of == f.Source && s.Foreground(of) {
			if e, ok := f.Definition.InForeground(o.Object, finalizers); ok {
				f.Effect, f.Foreground = e, true
			}
		}
	}
	f.Recreation, f.Refused = f.Definition.RecreatedBy(o.Object), f.Definition.FailsFor(o.Object)
	f.Account, _ = f.Definition.Deletion.As.Text(o.Object)
	s.links = append(s.links, f)
	if f.Definition.OwnerSide() == link.End {
		s.above[f.End] = append(s.above[f.End], len(s.links)-1)
		if f.End >= 0 && s.reached[f.End] {
			s.reach(f.Source)
		}
		return
	}
	s.below[f.Source] = append(s.below[f.Source], len(s.links)-1)
	if s.reached[f.Source] {
		s.reach(f.End)
	}
}

// resolve finds the object that is named; a negative id and what identifies it if it is not there.
func (s *search) resolve(n link.Named) (graph.ID, graph.Ref) {
	types := s.kinds[schema.GroupKind{Group: n.Group, Kind: n.Kind}]
	if len(types) == 0 {
		version := cmp.Or(n.Version, "v1")
		if n.Group != "" {
			version = n.Group + "/" + version
		}
		return s.virtual(graph.Ref{APIVersion: version, Kind: n.Kind, Namespace: n.Namespace, Name: n.Name})
	}
	namespace := n.Namespace
	for _, t := range types {
		if !t.Namespaced {
			namespace = ""
		}
		if id, ok := s.Graph.Find(t.Group, t.Resource, namespace, n.Name); ok &&
			(n.UID == "" || n.UID == s.Graph.Ref(id).UID) {
			return id, graph.Ref{}
		}
	}
	ref := types[0].Ref(namespace, n.Name, "")
	if id, ok := s.referred(ref); ok && (n.UID == "" || n.UID == s.Graph.Ref(id).UID) {
		return id, graph.Ref{}
	}
	return s.virtual(ref)
}

// referred finds an object that is not there among those that ownerReferences name: what it owned
// is below it.
func (s *search) referred(ref graph.Ref) (graph.ID, bool) {
	if s.absent == nil {
		s.absent = map[graph.Ref]graph.ID{}
		for id := range s.Graph.IDs() {
			if !s.Graph.Observed(id) {
				r := s.Graph.Ref(id)
				s.absent[graph.Ref{APIVersion: r.Group(), Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}] = id
			}
		}
	}
	id, ok := s.absent[graph.Ref{APIVersion: ref.Group(), Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}]
	return id, ok
}

// virtual returns the negative id of an end that is not there, the same for the same end.
func (s *search) virtual(ref graph.Ref) (graph.ID, graph.Ref) {
	id, known := s.unseen[ref]
	if !known {
		s.lastUnseen--
		id = s.lastUnseen
		s.unseen[ref] = id
	}
	return id, ref
}

// result makes nodes for the ends that are not there, and links of what matters for the roots.
func (s *search) result() *Ownership {
	s.wider = s.wider || slices.ContainsFunc(s.entered, func(id graph.ID) bool { return s.reached[id] })
	links := slices.DeleteFunc(s.links, func(f named) bool { return !s.matters(f) })
	slices.SortStableFunc(links, func(a, b named) int { return cmp.Compare(a.Source, b.Source) })
	nodes := map[graph.ID]int{}
	var refs []graph.Ref
	node := func(id graph.ID, ref graph.Ref) {
		if _, known := nodes[id]; id < 0 && !known {
			nodes[id] = len(refs)
			refs = append(refs, ref)
		}
	}
	for _, f := range links {
		node(f.Source, f.source)
		node(f.End, f.end)
	}
	g, ids := s.Graph.WithUnseen(refs)
	found := make([]link.Found, len(links))
	for i, f := range links {
		if f.Source < 0 {
			f.Source = ids[nodes[f.Source]]
		}
		if f.End < 0 {
			f.End = ids[nodes[f.End]]
		}
		found[i] = f.Found
	}
	return &Ownership{Graph: g, Links: link.New(g, found...), Gaps: s.gaps, Sources: s.sourcesAbove(), Elsewhere: s.wider}
}

// matters reports whether a link ties something to what was reached. Of the objects that name what
// is above them all were read.
func (s *search) matters(f named) bool {
	if f.Kept != "" && f.Definition.Deletion.Annotation != "" {
		return false // there is no link without the annotation
	}
	return f.Definition.OwnerSide() != link.End || f.End >= 0 && (s.reached[f.End] || s.Upwards)
}

func groupKind(t graph.Type) schema.GroupKind { return schema.GroupKind{Group: t.Group, Kind: t.Kind} }

// has reports whether there are objects of a type.
func (s *search) has(t graph.Type) bool {
	if s.counts == nil {
		s.counts = map[graph.Type]int{}
		for id := range s.Graph.IDs() {
			if s.Graph.Observed(id) {
				of, _ := s.Graph.Type(id)
				s.counts[of]++
			}
		}
	}
	return s.counts[t] > 0
}
