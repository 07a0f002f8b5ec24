package ownership

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// mostLeads is of how many objects it is asked what manages them. Who selects more means a whole
// type or a whole namespace.
const mostLeads = 300

// climb follows ownerReferences, leads, and what objects name above themselves upwards from the
// roots, to the end.
func (s *search) climb(ctx context.Context) error {
	seen := map[graph.ID]bool{}
	for level := s.Roots; len(level) > 0; {
		ancestors := s.ancestors(level, seen)
		if len(ancestors) > mostLeads {
			s.tooMany(len(ancestors))
			return nil
		}
		managers, err := s.leads(ctx, ancestors)
		if err != nil {
			return err
		}
		named, err := s.namedAbove(ctx, ancestors)
		if err != nil {
			return err
		}
		level = slices.Concat(managers, named)
	}
	return nil
}

// tooMany notes that it is not asked what stands above so many objects.
func (s *search) tooMany(objects int) {
	s.gaps = append(s.gaps, v1alpha1.Gap{
		Resource: "*", Reason: v1alpha1.GapFailed, Links: true,
		Message: fmt.Sprintf("what manages %d objects by links was not looked up: name at most %d, or use --links=false",
			objects, mostLeads),
	})
}

// namedAbove finds what objects name that stands above them, as the object that a Usage protects.
func (s *search) namedAbove(ctx context.Context, ids []graph.ID) ([]graph.ID, error) {
	naming := slices.DeleteFunc(slices.Clone(ids), func(id graph.ID) bool { return len(s.seek[s.groupKind(id)]) == 0 })
	objects, err := s.sources(ctx, naming, s.seek)
	if err != nil {
		return nil, err
	}
	before := len(s.links)
	if err := s.understand(ctx, naming, objects, func(id graph.ID) []*link.Definition {
		return s.seek[s.groupKind(id)]
	}); err != nil {
		return nil, err
	}
	var named []graph.ID
	for _, f := range s.links[before:] {
		if f.End >= 0 {
			named = append(named, f.End)
		}
	}
	return unique(named), nil
}

// ancestors returns objects that were not seen yet and all that own them by references, and marks
// them.
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
	led := slices.DeleteFunc(slices.Clone(ids),
		func(id graph.ID) bool { return !s.Graph.Observed(id) || len(s.lead[s.groupKind(id)]) == 0 })
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
	return managers, s.read(ctx, slices.DeleteFunc(slices.Clone(managers),
		func(id graph.ID) bool { return s.isRead[id] || !s.isSource(id) }))
}

// ends are the objects that another names by one link and that are there.
func (s *search) ends(ctx context.Context, id graph.ID, d *link.Definition, o *unstructured.Unstructured) ([]graph.ID,
	error) {
	ends, members := s.understood(s.Graph.Ref(id), d, o)
	var ids []graph.ID
	for _, n := range ends {
		end, ref := s.resolve(n)
		if end >= 0 {
			ids = append(ids, end)
		}
		s.wider = s.wider || end < 0 && s.isOut(ref)
	}
	all := make([]selected, len(members))
	for i, m := range members {
		all[i] = selected{id, m, d, o}
	}
	found, err := s.members(ctx, all)
	return append(ids, slices.Concat(found...)...), err
}
