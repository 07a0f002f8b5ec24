package ownership

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// few is up to how many objects of a type in a namespace are asked for by their names; of more of them
// labels say which ones are wanted, where they do.
const few = 20

// metadata reads the metadata of objects, each once. What is gone meanwhile or was replaced is left
// out, and what could not be read is a gap.
func (s *search) metadata(ctx context.Context, ids []graph.ID) (map[graph.ID]*unstructured.Unstructured, error) {
	unknown := slices.DeleteFunc(slices.Clone(ids), func(id graph.ID) bool { return s.isMeta[id] })
	var mu sync.Mutex
	err := s.client.TryObjects(ctx, cluster.RequestMetadata(s.Graph, unknown), func(_ graph.Type,
		o *unstructured.Unstructured) error {
		mu.Lock()
		defer mu.Unlock()
		if id, ok := s.Graph.Lookup(string(o.GetUID())); ok {
			s.metas[id] = o
		}
		return nil
	}, func(e *cluster.UnreadError) error { return s.unreadable(ctx, place{e.Type, e.Namespace}, e) })
	found := make(map[graph.ID]*unstructured.Unstructured, len(ids))
	for _, id := range ids {
		s.isMeta[id] = true
		if o, ok := s.metas[id]; ok {
			found[id] = o
		}
	}
	return found, err
}

// byPlace parts objects by type and namespace.
func (s *search) byPlace(ids []graph.ID) map[place][]graph.ID {
	at := map[place][]graph.ID{}
	for _, id := range ids {
		t, _ := s.Graph.Type(id)
		p := place{t, s.Graph.Namespace(id)}
		at[p] = append(at[p], id)
	}
	return at
}

// withoutStrangers leaves out objects that no link is about, where labels and annotations say which
// ones are: of a few ConfigMaps it is asked what they are, and not of the server which ones there
// belong to a release. Where they are in many namespaces one list of all of these says which ones
// have the labels.
func (s *search) withoutStrangers(ctx context.Context, ids []graph.ID,
	links map[schema.GroupKind][]*link.Definition) ([]graph.ID, error) {
	places := s.byPlace(ids)
	namespaces := map[graph.Type]int{}
	for p := range places {
		namespaces[p.t]++
	}
	labelled := map[graph.Type]map[string]bool{}
	for t, n := range namespaces {
		if n > few && s.Scope == "" {
			found, err := s.labelled(ctx, t, links[groupKind(t)])
			if err != nil {
				return nil, err
			}
			labelled[t] = found
		}
	}
	var asked, sources []graph.ID
	for p, there := range places {
		found := labelled[p.t]
		switch {
		case found != nil:
			sources = append(sources, slices.DeleteFunc(there, func(id graph.ID) bool { return !found[s.Graph.Ref(id).UID] })...)
		case told(links[groupKind(p.t)]) && len(there) <= few:
			asked = append(asked, there...)
		default:
			sources = append(sources, there...)
		}
	}
	metas, err := s.metadata(ctx, asked)
	for id, o := range metas {
		if slices.ContainsFunc(links[s.groupKind(id)], func(d *link.Definition) bool { return d.IsSource(o.Object) }) {
			sources = append(sources, id)
		}
	}
	slices.Sort(sources)
	return sources, err
}

// told reports whether labels and annotations tell which objects are the sources of links.
func told(links []*link.Definition) bool {
	return !slices.ContainsFunc(links, func(d *link.Definition) bool { return !d.From.InMetadata() })
}

// labelled returns the uids of the objects of a type, in all namespaces, that have the labels of
// one of the links. It is nil if labels do not tell, or if they cannot be listed so: then each
// namespace is asked, and what cannot be read there is a gap.
func (s *search) labelled(ctx context.Context, t graph.Type, links []*link.Definition) (map[string]bool, error) {
	selectors, all := selectors(links)
	if !all || !told(links) {
		return nil, nil
	}
	found := map[string]bool{}
	for _, labels := range selectors {
		matches, err := s.client.ListMatching(ctx, t, "", cluster.Selection{Labels: labels})
		if err != nil {
			return nil, context.Cause(ctx)
		}
		for _, m := range matches {
			found[m.UID] = true
		}
	}
	return found, nil
}
