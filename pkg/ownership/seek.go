package ownership

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// sought reads the objects that name what is above them, once something was reached that they can name: all of their kinds, since only they know it.
func (s *search) sought(ctx context.Context) error {
	for _, t := range s.Graph.Types() {
		definitions := slices.DeleteFunc(slices.Clone(s.seek[groupKind(t)]), func(d *link.Definition) bool { return !s.canEnd(d) })
		if len(definitions) == 0 || s.isSought[t] || !s.has(t) {
			continue
		}
		s.isSought[t] = true
		if err := s.seekAll(ctx, t, s.seek[groupKind(t)]); err != nil {
			return err
		}
	}
	return nil
}

// canEnd says whether something was reached that a link can name as its end.
func (s *search) canEnd(d *link.Definition) bool {
	return slices.ContainsFunc(d.Ends, func(e link.Ends) bool {
		group, kind, given := e.EndKind()
		return !given || s.reachedKinds[schema.GroupKind{Group: group, Kind: kind}]
	})
}

// seekAll reads all objects of a type for the sake of some links; their metadata alone, where that is all that is needed.
func (s *search) seekAll(ctx context.Context, t graph.Type, links []*link.Definition) error {
	namespace := ""
	if t.Namespaced {
		namespace = s.Scope
	}
	list := s.client.ListObjects
	if !slices.ContainsFunc(links, func(d *link.Definition) bool { return !d.MetadataOnly() }) {
		list = s.client.ListObjectMetas
	}
	selectors, all := selectors(links)
	if !all {
		selectors = []string{""}
	}
	found := map[graph.ID]*unstructured.Unstructured{}
	for _, labels := range selectors {
		objects, err := list(ctx, t, namespace, cluster.Selection{Labels: labels})
		if err := s.unreadable(ctx, place{t, namespace}, err); err != nil {
			return err
		}
		for _, o := range objects {
			if id, ok := s.Graph.Lookup(string(o.GetUID())); ok {
				found[id] = o
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if err := s.understand(ctx, id, found[id], links); err != nil {
			return err
		}
	}
	return nil
}
