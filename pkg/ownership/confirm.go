package ownership

import (
	"context"
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// askEnds reads the ends that can say whose they are, or that they stay, and notes what they say.
// Where labels and annotations say it, their metadata is enough.
func (s *search) askEnds(ctx context.Context) error {
	var whole, metadata []graph.ID
	for _, f := range s.links {
		switch asks, all := f.Definition.AsksEnds(); {
		case f.End < 0 || !asks || !s.Graph.Observed(f.End):
		case all:
			whole = append(whole, f.End)
		default:
			metadata = append(metadata, f.End)
		}
	}
	objects, err := s.objects(ctx, unique(whole), nil)
	if err != nil {
		return err
	}
	metas, err := s.metadata(ctx, unique(metadata))
	if err != nil {
		return err
	}
	maps.Copy(metas, objects)
	for i := range s.links {
		f := &s.links[i]
		var end map[string]any
		if o, ok := metas[f.End]; ok {
			end = o.Object
		}
		f.Confirmed = s.owns(f.Found) || f.Definition.ConfirmedBy(end, f.identity)
		if f.Effect.Deletes && end != nil {
			f.Kept, _ = link.Kept(f.keep, end)
			f.Effect.Policy = f.Definition.PolicyFor(end, f.Effect)
			f.Bound = f.Definition.BoundElsewhere(end, f.identity)
		}
	}
	return nil
}

// owns says whether the dependent of a link has an ownerReference to the owner.
func (s *search) owns(f link.Found) bool {
	dependent := f.Dependent()
	if dependent < 0 || f.Owner() < 0 {
		return false
	}
	for e := range s.Graph.Owners(dependent) {
		if e.Owner == f.Owner() {
			return true
		}
	}
	return false
}

func unique(ids []graph.ID) []graph.ID {
	slices.Sort(ids)
	return slices.Compact(ids)
}
