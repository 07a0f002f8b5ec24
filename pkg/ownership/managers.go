package ownership

import (
	"context"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// whereabouts say where objects are that may manage others: those of a type and a name, those that
// a label selector finds, which may have to have a name too, or all of a type.
type whereabouts struct {
	place
	name, labels string
}

// managers finds what would create again what is deleted: an Application, a release, a claim. It
// may be anywhere, and is read there without listing more than what the objects say of it.
func (s *search) managers(ctx context.Context) error {
	managed, err := s.managed(ctx)
	if err != nil {
		return err
	}
	var all []whereabouts
	seen := map[whereabouts]bool{}
	ends := map[graph.ID]bool{}
	for _, m := range managed {
		ends[m.id] = true
		for _, w := range m.by {
			if !seen[w] && !s.goesWith(w.namespace) {
				seen[w] = true
				all = append(all, w)
			}
		}
	}
	read := make([][]*unstructured.Unstructured, len(all))
	if err := cluster.EachUntil(ctx, s.client, all, func(ctx context.Context, i int, w whereabouts) (err error) {
		read[i], err = s.at(ctx, w)
		return s.unreadable(ctx, w.place, err)
	}); err != nil {
		return err
	}
	known := map[string]bool{}
	for i, w := range all {
		for _, o := range read[i] {
			if uid := string(o.GetUID()); !known[uid] && o.GetDeletionTimestamp() == nil {
				known[uid] = true
				if err := s.manager(ctx, w.t, o, ends); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// controllers asks the owners of the roots what they say of these by links: whether their programs
// make them again. Of some programs they are no controllers in the references.
func (s *search) controllers(ctx context.Context) error {
	ends, made := map[graph.ID]bool{}, map[graph.ID][]graph.ID{}
	var owners []graph.ID
	for id := range s.isRoot {
		for e := range s.Graph.Owners(id) {
			if e.Problem != 0 || !s.Graph.Observed(e.Owner) {
				continue
			}
			if s.recreates(e.Owner) {
				ends[id] = true
				owners = append(owners, e.Owner)
			}
			if len(s.makes[s.groupKind(e.Owner)]) > 0 && !s.reached[e.Owner] {
				made[e.Owner] = append(made[e.Owner], id)
			}
		}
	}
	if err := s.makers(ctx, made); err != nil {
		return err
	}
	owners = unique(owners)
	objects, err := s.sources(ctx, owners, s.downward)
	if err != nil {
		return err
	}
	for _, id := range owners {
		t, _ := s.Graph.Type(id)
		if o, ok := objects[id]; ok {
			if err := s.manager(ctx, t, o, ends); err != nil {
				return err
			}
		}
	}
	return nil
}

// makers asks owners, by links that are about their dependents, whether they make these again.
func (s *search) makers(ctx context.Context, made map[graph.ID][]graph.ID) error {
	ids := slices.Sorted(maps.Keys(made))
	objects, err := s.sources(ctx, ids, s.makes)
	if err != nil {
		return err
	}
	for _, id := range ids {
		o, read := objects[id]
		if !read || o.GetDeletionTimestamp() != nil {
			continue
		}
		for _, d := range s.makes[s.groupKind(id)] {
			if !d.IsSource(o.Object) {
				continue
			}
			for _, end := range made[id] {
				if gk := s.groupKind(end); d.Makes(gk.Group, gk.Kind) {
					s.links = append(s.links, named{Found: link.Found{Definition: d, Source: id, End: end,
						Field: "metadata.ownerReferences", Recreation: d.RecreatedBy(o.Object), More: len(made[id]) > 1},
						source: s.Graph.Ref(id), identity: link.IdentityOf(s.groupKind(id).Group, s.groupKind(id).Kind, o)})
				}
			}
		}
	}
	return nil
}

// recreates reports whether links of an object that is not reached itself can say that something
// comes back.
func (s *search) recreates(id graph.ID) bool {
	return !s.reached[id] && slices.ContainsFunc(s.downward[s.groupKind(id)],
		func(d *link.Definition) bool { return len(d.Recreates) > 0 && !d.From.Anything() })
}

// goesWith reports whether all that is in a namespace is deleted with it: what goes creates nothing
// again.
func (s *search) goesWith(namespace string) bool {
	id, ok := s.Graph.Find("", "namespaces", "", namespace)
	return ok && s.isRoot[id]
}

// managed is an object that says what manages it, and where that may be.
type managed struct {
	id graph.ID
	by []whereabouts
}

// managed asks the roots what manages them, and what else is reached where what it would name is of
// a kind that the server serves: most of what a namespace has was applied by somebody. What has an
// owner comes back with that, unless its kind is one that a program makes. Where the listing has
// the annotations that say it, nobody is asked.
func (s *search) managed(ctx context.Context) ([]managed, error) {
	leads := map[graph.ID][]*link.Definition{}
	var ids []graph.ID
	for i := range s.reached {
		id := graph.ID(i)
		if !s.reached[i] {
			continue
		}
		for _, d := range s.lead[s.groupKind(id)] {
			if s.isRoot[id] || (s.Graph.OwnerCount(id) == 0 || !d.From.Anything()) && s.servesEnd(d) {
				leads[id] = append(leads[id], d)
			}
		}
		if len(leads[id]) > 0 {
			ids = append(ids, id)
		}
	}
	objects, err := s.sources(ctx, ids, s.lead)
	if err != nil {
		return nil, err
	}
	all := append(s.annotated(), s.unnamed()...)
	for _, id := range ids {
		m := managed{id: id}
		for _, d := range leads[id] {
			if o, ok := objects[id]; ok {
				m.by = append(m.by, s.whereabouts(id, d, o)...)
			}
		}
		if len(m.by) > 0 {
			all = append(all, m)
		}
	}
	return all, nil
}

// annotated are the objects that were reached besides the roots, that have no owner, and whose
// annotations in the listing say what manages them.
func (s *search) annotated() []managed {
	var all []managed
	for i := range s.reached {
		id := graph.ID(i)
		annotations := s.Graph.Annotations(id)
		if !s.reached[i] || s.isRoot[id] || len(annotations) == 0 || s.Graph.OwnerCount(id) > 0 {
			continue
		}
		m := managed{id: id}
		o := &unstructured.Unstructured{}
		o.SetNamespace(s.Graph.Namespace(id))
		o.SetAnnotations(annotations)
		for _, d := range s.lead[s.groupKind(id)] {
			if _, told := d.Annotations(); told {
				m.by = append(m.by, s.whereabouts(id, d, o)...)
			}
		}
		if len(m.by) > 0 {
			all = append(all, m)
		}
	}
	return all
}

// unnamed are the roots that do not say what creates them again, unless by their name: what may name
// them is in their namespace.
func (s *search) unnamed() []managed {
	otherwise := func(e link.Ends) bool { return !e.IsName() }
	var all []managed
	for id := range s.isRoot {
		m := managed{id: id}
		of := s.groupKind(id)
		for _, t := range s.types {
			if slices.ContainsFunc(s.downward[groupKind(t)], func(d *link.Definition) bool {
				return len(d.Recreates) > 0 && !slices.ContainsFunc(d.Confirmed, otherwise) &&
					slices.ContainsFunc(d.Ends, func(e link.Ends) bool {
						return e.Form == link.Text && e.Kind != "" && e.CanBe(of.Group, of.Kind)
					})
			}) {
				m.by = append(m.by, whereabouts{place: placeOf(t, s.Graph.Namespace(id))})
			}
		}
		if len(m.by) > 0 {
			all = append(all, m)
		}
	}
	return all
}

// servesEnd reports whether the server serves a kind that a link says its ends are of.
func (s *search) servesEnd(d *link.Definition) bool {
	return slices.ContainsFunc(d.Ends, func(e link.Ends) bool {
		for served := range s.kinds {
			if e.Kind != "" && e.CanBe(served.Group, served.Kind) {
				return true
			}
		}
		return false
	})
}

// whereabouts are where that is which an object names by one link.
func (s *search) whereabouts(id graph.ID, d *link.Definition, o *unstructured.Unstructured) []whereabouts {
	ends, members := s.understood(s.Graph.Ref(id), d, o)
	var all []whereabouts
	for _, n := range ends {
		for _, t := range s.kinds[schema.GroupKind{Group: n.Group, Kind: n.Kind}] {
			all = append(all, whereabouts{place: placeOf(t, n.Namespace), name: n.Name})
		}
	}
	for _, m := range members {
		for _, t := range s.types {
			if s.canBe(m, t) {
				all = append(all, whereabouts{place: placeOf(t, m.Namespace), name: m.Name, labels: m.Labels})
			}
		}
	}
	return all
}

func placeOf(t graph.Type, namespace string) place { return place{t, t.Place(namespace)} }

// at reads the objects that are there. One that is not in the namespace where its program usually
// has it can be in any other.
func (s *search) at(ctx context.Context, w whereabouts) ([]*unstructured.Unstructured, error) {
	if w.labels != "" || w.name == "" {
		return s.client.ListObjects(ctx, w.t, w.namespace, cluster.Selection{Labels: w.labels, Fields: withName(w.name)})
	}
	o, err := s.client.GetObject(ctx, w.t, w.namespace, w.name)
	if apierrors.IsNotFound(err) && w.t.Namespaced {
		return s.client.ListObjects(ctx, w.t, "", cluster.Selection{Fields: withName(w.name)})
	}
	if err != nil {
		return nil, err
	}
	return []*unstructured.Unstructured{o}, nil
}

// manager notes which of some objects another one names. What is reached itself was read before.
func (s *search) manager(ctx context.Context, t graph.Type, o *unstructured.Unstructured,
	ends map[graph.ID]bool) error {
	source, listed := s.Graph.Lookup(string(o.GetUID()))
	if listed && s.reached[source] {
		return nil
	}
	ref := t.RefOf(o)
	if !listed {
		source, ref = s.virtual(ref)
	}
	for _, d := range s.downward[groupKind(t)] {
		recreation := d.RecreatedBy(o.Object)
		if len(d.Recreates) == 0 {
			continue
		}
		references, members := s.understood(ref, d, o)
		note := func(end graph.ID, field string) {
			f := link.Found{Definition: d, Source: source, End: end, Field: field, Recreation: recreation, Outside: !listed,
				More: len(references) > 1}
			if recreation == nil && !s.owns(f) {
				return // that an owner makes nothing again is worth knowing
			}
			s.links = append(s.links, named{Found: f, source: ref, identity: link.IdentityOf(t.Group, t.Kind, o)})
		}
		for _, n := range references {
			if end, _ := s.resolve(n); end >= 0 && ends[end] {
				note(end, n.Field)
			}
		}
		for _, m := range members {
			selected, err := s.selected(ctx, m, ends)
			if err != nil {
				return err
			}
			for _, end := range selected {
				note(end, "")
			}
		}
	}
	return nil
}

// selected returns those of some objects that a label selector is about.
func (s *search) selected(ctx context.Context, m link.Members, among map[graph.ID]bool) ([]graph.ID, error) {
	selector, err := labels.Parse(m.Labels)
	if err != nil || selector.Empty() {
		return nil, nil // a pack with a selector that cannot be parsed is refused
	}
	ids := slices.Sorted(maps.Keys(among))
	metas, err := s.metadata(ctx, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(ids, func(id graph.ID) bool {
		t, _ := s.Graph.Type(id)
		o, read := metas[id]
		return !read || !s.canBe(m, t) || !selector.Matches(labels.Set(o.GetLabels())) ||
			m.Namespace != "" && m.Namespace != o.GetNamespace() || m.Name != "" && m.Name != o.GetName()
	}), nil
}
