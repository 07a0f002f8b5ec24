package ownership

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// mostLeads is of how many objects it is asked what manages them. Who selects more means a whole type or a whole namespace.
const mostLeads = 300

// climb follows ownerReferences and leads upwards from the roots, to the end.
func (s *search) climb(ctx context.Context) error {
	seen := map[graph.ID]bool{}
	for level := s.Roots; len(level) > 0; {
		ancestors := s.ancestors(level, seen)
		managers, err := s.leads(ctx, ancestors)
		if err != nil {
			return err
		}
		level = managers
	}
	return nil
}

// ancestors returns objects that were not seen yet and all that own them by references, and marks them.
func (s *search) ancestors(ids []graph.ID, seen map[graph.ID]bool) []graph.ID {
	var all []graph.ID
	for queue := slices.Clone(ids); len(queue) > 0; {
		id := queue[0]
		queue = queue[1:]
		if seen[id] || !s.Graph.Observed(id) {
			continue
		}
		seen[id] = true
		all = append(all, id)
		for e := range s.Graph.Owners(id) {
			queue = append(queue, e.Owner)
		}
	}
	return all
}

// leads finds what manages objects, and reads it: what ties it to them are links of its own.
func (s *search) leads(ctx context.Context, ids []graph.ID) ([]graph.ID, error) {
	if len(ids) > mostLeads {
		s.gaps = append(s.gaps, v1alpha1.Gap{
			Resource: "*", Reason: v1alpha1.GapFailed, Links: true,
			Message: fmt.Sprintf("what manages %d objects by links was not looked up: name at most %d, or use --links=false", len(ids), mostLeads),
		})
		return nil, nil
	}
	led := slices.DeleteFunc(slices.Clone(ids), func(id graph.ID) bool { return !s.Graph.Observed(id) || len(s.lead[s.groupKind(id)]) == 0 })
	objects, err := s.sources(ctx, led, s.lead)
	if err != nil {
		return nil, err
	}
	var managers []graph.ID
	for _, id := range led {
		o, ok := objects[id]
		if !ok {
			continue
		}
		for _, d := range s.lead[s.groupKind(id)] {
			found, err := s.ends(ctx, id, d, o)
			if err != nil {
				return nil, err
			}
			managers = append(managers, found...)
		}
	}
	managers = unique(managers)
	return managers, s.read(ctx, slices.DeleteFunc(slices.Clone(managers), func(id graph.ID) bool { return s.isRead[id] || !s.isSource(id) }))
}

// ends are the objects that another names by one link and that are there.
func (s *search) ends(ctx context.Context, id graph.ID, d *link.Definition, o *unstructured.Unstructured) ([]graph.ID, error) {
	ends, members, err := d.References(o.Object)
	if err != nil {
		s.gap(s.Graph.Ref(id), d, err)
	}
	var ids []graph.ID
	for _, n := range ends {
		if end, _ := s.resolve(n); end >= 0 {
			ids = append(ids, end)
		}
	}
	for _, m := range members {
		found, err := s.members(ctx, id, m)
		if err != nil {
			return nil, err
		}
		ids = append(ids, found...)
	}
	return ids, nil
}

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
