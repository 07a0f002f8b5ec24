package ownership

import (
	"context"
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// kept reads the ends that can say that they stay. Where a label or an annotation says it, their metadata is enough.
func (s *search) kept(ctx context.Context) error {
	var whole, metadata []graph.ID
	for _, f := range s.links {
		switch {
		case f.End < 0 || !f.Effect.Deletes || !f.Definition.AsksEnds() || !s.Graph.Observed(f.End):
		case f.Definition.ReadsEnds():
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
		if o, ok := metas[f.End]; ok && f.Effect.Deletes {
			f.Kept, _ = f.Definition.Keeps(o.Object)
			f.Effect.Policy = f.Definition.PolicyFor(o.Object, f.Effect)
		}
	}
	return nil
}

func unique(ids []graph.ID) []graph.ID {
	slices.Sort(ids)
	return slices.Compact(ids)
}
