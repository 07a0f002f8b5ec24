package ownership

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// sought reads the objects that name what is above them, once something was reached that they can
// name: all of their kinds, since only they know it.
func (s *search) sought(ctx context.Context) error {
	for _, t := range s.Graph.Types() {
		links := s.seek[groupKind(t)]
		if s.isSought[t] || !slices.ContainsFunc(links, s.canEnd) || !s.has(t) && !s.comesIn(t, links) {
			continue
		}
		s.isSought[t] = true
		if err := s.seekAll(ctx, t, links); err != nil {
			return err
		}
	}
	return nil
}

// sourcesAbove are the types of which an object can name what was reached.
func (s *search) sourcesAbove() []graph.Type {
	return slices.DeleteFunc(slices.Clone(s.Graph.Types()),
		func(t graph.Type) bool { return !slices.ContainsFunc(s.seek[groupKind(t)], s.canEnd) })
}

// comesIn reports whether an object of a type that was not listed, since it is in another
// namespace, can name one that was.
func (s *search) comesIn(t graph.Type, links []*link.Definition) bool {
	return t.Namespaced && s.Scope != "" && slices.ContainsFunc(links, (*link.Definition).LeavesNamespace)
}

// canEnd reports whether something was reached that a link can name as its end.
func (s *search) canEnd(d *link.Definition) bool {
	return slices.ContainsFunc(d.Ends, func(e link.Ends) bool {
		for reached := range s.reachedKinds {
			if e.CanBe(reached.Group, reached.Kind) {
				return true
			}
		}
		return false
	})
}

// seekAll reads all objects of a type for the sake of some links.
func (s *search) seekAll(ctx context.Context, t graph.Type, links []*link.Definition) error {
	namespace := ""
	if t.Namespaced && !s.comesIn(t, links) {
		namespace = s.Scope
	}
	objects, complete, err := s.seekIn(ctx, place{t, namespace}, links)
	if err == nil && !complete && s.comesIn(t, links) && s.has(t) {
		objects, complete, err = s.seekIn(ctx, place{t, s.Scope}, links)
	}
	if err != nil {
		return err
	}
	found := map[graph.ID]*unstructured.Unstructured{}
	if !complete && s.client.IsStill() { // a dump can have some of a type
		if found, err = s.seen(ctx, t); err != nil {
			return err
		}
	}
	for _, o := range objects {
		if id, ok := s.Graph.Lookup(string(o.GetUID())); ok {
			found[id] = o
		} else if t.Namespaced && s.Scope != "" && o.GetNamespace() != s.Scope {
			s.fromElsewhere(o, links)
		}
	}
	return s.understand(ctx, slices.Sorted(maps.Keys(found)), found, func(graph.ID) []*link.Definition { return links })
}

// seen reads those objects of a type that a dump has, where it may not have all.
func (s *search) seen(ctx context.Context, t graph.Type) (map[graph.ID]*unstructured.Unstructured, error) {
	found := map[graph.ID]*unstructured.Unstructured{}
	if !s.has(t) {
		return found, nil
	}
	var ids []graph.ID
	for id := range s.Graph.IDs() {
		if of, _ := s.Graph.Type(id); of == t && s.Graph.Observed(id) {
			ids = append(ids, id)
		}
	}
	for some := range slices.Chunk(ids, few) {
		objects, err := s.objects(ctx, some, nil)
		if err != nil {
			return nil, err
		}
		maps.Copy(found, objects)
	}
	return found, nil
}

// seekIn reads all objects of a type in a place; their metadata alone, where that is all that is
// needed. It is false if that failed, of which it makes a gap.
func (s *search) seekIn(ctx context.Context, p place, links []*link.Definition) ([]*unstructured.Unstructured, bool,
	error) {
	ask := func(selected cluster.Selection) ([]*unstructured.Unstructured, error) {
		return s.client.ListObjects(ctx, p.t, p.namespace, selected)
	}
	if !slices.ContainsFunc(links, func(d *link.Definition) bool { return !d.MetadataOnly() }) {
		ask = func(selected cluster.Selection) ([]*unstructured.Unstructured, error) {
			if keys, all := annotations(links); all && selected.Labels == "" {
				return s.client.ListAnnotated(ctx, p.t, p.namespace, keys)
			}
			return s.client.ListObjectMetas(ctx, p.t, p.namespace, selected)
		}
	}
	selectors, all := selectors(links)
	if !all {
		selectors = []string{""}
	}
	var found []*unstructured.Unstructured
	for _, labels := range selectors {
		objects, err := ask(cluster.Selection{Labels: labels})
		if err != nil {
			return nil, false, s.unreadable(ctx, p, err)
		}
		found = append(found, objects...)
	}
	return found, true, nil
}

// annotations are keys of annotations of which each source of some links has one, and whether there
// are any.
func annotations(links []*link.Definition) ([]string, bool) {
	var keys []string
	for _, d := range links {
		of, all := d.SourceAnnotations()
		if !all {
			return nil, false
		}
		keys = append(keys, of...)
	}
	return keys, true
}

// fromElsewhere notes what an object in a namespace that was not listed names. That it has no node
// matters only if what it names is reached.
func (s *search) fromElsewhere(o *unstructured.Unstructured, links []*link.Definition) {
	for _, d := range links {
		ends, _, _ := s.references(d, o) // of what cannot be understood there it is said when that namespace is listed
		for _, n := range ends {
			if id, _ := s.resolve(n); id >= 0 {
				s.entered = append(s.entered, id)
			}
		}
	}
}
