package ownership

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// place is a type in a namespace.
type place struct {
	t         graph.Type
	namespace string
}

// read reads sources whole, and notes what they name.
func (s *search) read(ctx context.Context, sources []graph.ID) error {
	objects, err := s.sources(ctx, sources, s.downward)
	if err != nil {
		return err
	}
	for _, id := range sources {
		s.isRead[id] = true
	}
	return s.understand(ctx, sources, objects, func(id graph.ID) []*link.Definition { return s.downward[s.groupKind(id)] })
}

// selected are the objects that a source selects by a link.
type selected struct {
	source  graph.ID
	members link.Members
	d       *link.Definition
	object  *unstructured.Unstructured
}

// understand notes what those of some objects that were read name and select by their links.
func (s *search) understand(ctx context.Context, ids []graph.ID, objects map[graph.ID]*unstructured.Unstructured,
	links func(graph.ID) []*link.Definition) error {
	var all []selected
	for _, id := range ids {
		o, read := objects[id]
		if !read {
			continue
		}
		for _, d := range links(id) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			ends, members := s.understood(s.Graph.Ref(id), d, o)
			s.add(d, id, o, ends)
			for _, m := range members {
				all = append(all, selected{id, m, d, o})
			}
		}
	}
	found, err := s.members(ctx, all)
	if err != nil {
		return err
	}
	for i, m := range all {
		keep := m.d.KeepOf(m.object.Object)
		for _, end := range found[i] {
			s.note(named{Found: link.Found{Definition: m.d, Source: m.source, End: end, Confirmed: m.members.NameSource,
				Field: cmp.Or(m.members.Labels, m.members.Fields, m.members.Field)},
				identity: s.identity(m.source, m.object), keep: keep}, m.object)
		}
	}
	return nil
}

// gap notes that what an object names could not be understood.
func (s *search) gap(ref graph.Ref, d *link.Definition, err error) {
	s.gaps = append(s.gaps, v1alpha1.Gap{
		Resource: ref.Resource, Group: ref.Group(), Namespace: ref.Namespace, Reason: v1alpha1.GapFailed,
		Links: true, Message: "reading the link " + d.ID + " of " + ref.KindName() + ": " +
			strings.ReplaceAll(err.Error(), "\n", "; "),
	})
}

// sources reads what the links of a kind need of objects: their metadata, where that is all.
func (s *search) sources(ctx context.Context, ids []graph.ID,
	links map[schema.GroupKind][]*link.Definition) (map[graph.ID]*unstructured.Unstructured, error) {
	var whole, metadata []graph.ID
	inContent := map[schema.GroupKind]bool{}
	for kind, all := range links {
		inContent[kind] = slices.ContainsFunc(all, func(d *link.Definition) bool { return !d.MetadataOnly() })
	}
	for _, id := range ids {
		if inContent[s.groupKind(id)] {
			whole = append(whole, id)
		} else {
			metadata = append(metadata, id)
		}
	}
	metas, err := s.metadata(ctx, metadata)
	if err != nil {
		return nil, err
	}
	if whole, err = s.withoutStrangers(ctx, whole, links); err != nil {
		return nil, err
	}
	objects, err := s.objects(ctx, whole, links)
	if err != nil {
		return nil, err
	}
	maps.Copy(metas, objects)
	return metas, nil
}

// objects reads objects whole, for the sake of some links. What is gone meanwhile or was replaced
// is left out, and what could not be read is a gap.
func (s *search) objects(ctx context.Context, ids []graph.ID,
	links map[schema.GroupKind][]*link.Definition) (map[graph.ID]*unstructured.Unstructured, error) {
	found := map[graph.ID]*unstructured.Unstructured{}
	var mu sync.Mutex
	places := s.byPlace(ids)
	return found, cluster.EachUntil(ctx, s.client, slices.Collect(maps.Keys(places)),
		func(ctx context.Context, _ int, p place) error {
			err := s.objectsAt(ctx, p, places[p], links[groupKind(p.t)], func(id graph.ID, o *unstructured.Unstructured) {
				mu.Lock()
				defer mu.Unlock()
				found[id] = o
			})
			return s.unreadable(ctx, p, err)
		})
}

// objectsAt reads objects of one place. Those of a kind whose links are about a label are selected
// by it: other Secrets of the namespace are not read.
func (s *search) objectsAt(ctx context.Context, p place, ids []graph.ID, links []*link.Definition,
	keep func(graph.ID, *unstructured.Unstructured)) error {
	wanted := make(map[string]graph.ID, len(ids))
	for _, id := range ids {
		wanted[s.Graph.Ref(id).UID] = id
	}
	check := func(o *unstructured.Unstructured) error {
		if id, ok := wanted[string(o.GetUID())]; ok {
			keep(id, o)
		}
		return nil
	}
	if selectors, all := selectors(links); all && len(ids) > few {
		for _, labels := range selectors {
			objects, err := s.client.ListObjects(ctx, p.t, p.namespace, cluster.Selection{Labels: labels})
			if err != nil {
				return err
			}
			for _, o := range objects {
				_ = check(o)
			}
		}
		return nil
	}
	return s.client.ForEachObject(ctx, cluster.RequestObjects(s.Graph, ids), check)
}

// selectors returns the label selectors that the sources of some links match, each once; false if
// there is a link whose sources no label tells.
func selectors(links []*link.Definition) ([]string, bool) {
	var all []string
	for _, d := range links {
		labels := d.From.Labels()
		if labels == "" {
			return nil, false
		}
		if !slices.Contains(all, labels) {
			all = append(all, labels)
		}
	}
	return all, len(all) > 0
}

// unreadable makes a gap of an error, or returns one that every request would meet.
func (s *search) unreadable(ctx context.Context, p place, err error) error {
	if err == nil || errors.Is(err, cluster.ErrBadName) {
		return nil
	}
	cause := err
	if unread, ok := errors.AsType[*cluster.UnreadError](err); ok {
		cause = unread.Err
	}
	gap, ok := cluster.GapOf(ctx, p.t, p.namespace, cause)
	if !ok {
		return cause
	}
	gap.Links = true
	s.mu.Lock()
	defer s.mu.Unlock()
	same := func(g v1alpha1.Gap) bool {
		return g.Group == gap.Group && g.Resource == gap.Resource && g.Namespace == gap.Namespace && g.Reason == gap.Reason
	}
	if !slices.ContainsFunc(s.gaps, same) { // reading for another link has said so
		s.gaps = append(s.gaps, gap)
	}
	return nil
}

// members returns the objects that each selector finds, besides the one that has it. Each kind that
// the server serves is asked for them, but for one of which nothing was seen where they are.
func (s *search) members(ctx context.Context, all []selected) ([][]graph.ID, error) {
	type request struct {
		of int
		place
	}
	var requests []request
	ids := make([][]graph.ID, len(all))
	for i, m := range all {
		beyond := s.Scope != "" && m.members.Namespace != s.Scope
		types := slices.DeleteFunc(s.Graph.Types(), func(t graph.Type) bool {
			return !s.canBe(m.members, t) || !s.has(t) && !(beyond && t.Namespaced)
		})
		if m.members.Labels+m.members.Fields == "" {
			ids[i] = s.instances(types)
			continue
		}
		for _, t := range types {
			p := placeOf(t, m.members.Namespace)
			if t.Namespaced && p.namespace == "" && s.Scope != "" {
				s.wider = true // and then they are sought again
				continue
			}
			requests = append(requests, request{i, p})
		}
	}
	matches := make([][]cluster.Match, len(requests))
	if err := cluster.EachUntil(ctx, s.client, requests, func(ctx context.Context, i int, r request) (err error) {
		m := all[r.of].members
		by := slices.DeleteFunc([]string{withName(m.Name), m.Fields}, func(s string) bool { return s == "" })
		matches[i], err = s.client.ListMatching(ctx, r.t, r.namespace,
			cluster.Selection{Labels: m.Labels, Fields: strings.Join(by, ",")})
		return s.unreadable(ctx, r.place, err)
	}); err != nil {
		return nil, err
	}
	for i, r := range requests {
		for _, match := range matches[i] {
			id, listed := s.Graph.Lookup(match.UID)
			switch {
			case !listed:
				s.wider = s.wider || s.Scope != "" && r.t.Namespaced && r.namespace != s.Scope
			case id != all[r.of].source:
				ids[r.of] = append(ids[r.of], id)
			}
		}
	}
	for i := range ids {
		ids[i] = unique(ids[i])
	}
	return ids, nil
}

// withName is the field selector for a name; empty for any.
func withName(name string) string {
	if name == "" {
		return ""
	}
	return "metadata.name=" + name
}

// instances are all objects of some types, as they were listed.
func (s *search) instances(types []graph.Type) []graph.ID {
	var ids []graph.ID
	for _, t := range types {
		s.wider = s.wider || t.Namespaced && s.Scope != ""
		for id := range s.Graph.IDs() {
			if of, ok := s.Graph.Type(id); ok && of == t && s.Graph.Observed(id) {
				ids = append(ids, id)
			}
		}
	}
	return unique(ids)
}
