package ownership

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// kept reads the ends that can say that they stay. Where a label or an annotation says it, their metadata is enough.
func (s *search) kept(ctx context.Context) error {
	var whole, metadata []graph.ID
	for _, f := range s.links {
		switch {
		case f.End < 0 || !f.Effect.Deletes || len(f.Definition.Deletion.Keep) == 0 || !s.Graph.Observed(f.End):
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
	if err := s.metadata(ctx, unique(metadata), objects); err != nil {
		return err
	}
	for i := range s.links {
		f := &s.links[i]
		if o, ok := objects[f.End]; ok && f.Effect.Deletes {
			f.Kept, _ = f.Definition.Keeps(o.Object)
		}
	}
	return nil
}

func unique(ids []graph.ID) []graph.ID {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// metadata adds the metadata of objects to those that are known.
func (s *search) metadata(ctx context.Context, ids []graph.ID, objects map[graph.ID]*unstructured.Unstructured) error {
	var mu sync.Mutex
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(s.client.Concurrency())
	unknown := slices.DeleteFunc(slices.Clone(ids), func(id graph.ID) bool { return objects[id] != nil })
	for _, id := range unknown {
		group.Go(func() error {
			t, _ := s.Graph.Type(id)
			ref := s.Graph.Ref(id)
			o, err := s.client.GetObjectMeta(groupCtx, t, ref.Namespace, ref.Name)
			if cluster.IsAbsent(err, t, ref.Name) {
				return nil
			}
			if err != nil {
				return s.unreadable(groupCtx, place{t, ref.Namespace}, err)
			}
			if string(o.GetUID()) == ref.UID {
				mu.Lock()
				defer mu.Unlock()
				objects[id] = o
			}
			return nil
		})
	}
	return group.Wait()
}
