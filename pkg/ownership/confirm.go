package ownership

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// askEnds reads the ends that can say whose they are, or that they stay, and notes what they say.
// Where labels and annotations say it, their metadata is enough.
func (s *search) askEnds(ctx context.Context) error {
	var whole, metadata []graph.ID
	for _, f := range s.links {
		whole = append(whole, f.permits...)
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
		f.Confirmed = f.Confirmed || s.owns(f.Found) || f.Definition.ConfirmedBy(end, f.identity)
		if f.Effect.Deletes && end != nil {
			denied := s.notPermitted(f, objects)
			f.Kept, _ = link.Kept(f.keep, end)
			claimed := f.Definition.ClaimedElsewhere(end, f.identity)
			f.Kept = cmp.Or(f.Kept, denied, claimed)
			f.Halts = f.Definition.Deletion.Waves != "" && denied+claimed == "" && !link.Unseen(f.keep, end)
			f.Unsure = s.unpermitted(f, objects)
			f.Wave = f.Definition.WaveOf(end)
			f.Effect.Policy = f.Definition.PolicyFor(end, f.Effect)
			f.Bound = f.Definition.BoundElsewhere(end, f.identity)
		}
	}
	return nil
}

// permits returns the object that a source names as the one without whose permission ends stay.
func (s *search) permits(d *link.Definition, source *unstructured.Unstructured) []graph.ID {
	p := d.Deletion.Permits
	if p == nil {
		return nil
	}
	for _, t := range s.kinds[schema.GroupKind{Group: p.Group, Kind: p.Kind}] {
		id, ok := s.Graph.Find(t.Group, t.Resource, p.NamespaceOf(source.Object, source.GetNamespace()),
			p.NameOf(source.Object))
		if ok && s.Graph.Observed(id) {
			return []graph.ID{id}
		}
	}
	return nil
}

// notPermitted says by which object the program may not delete an end; nothing if it may, or if that
// could not be read, see unpermitted.
func (s *search) notPermitted(f *named, objects map[graph.ID]*unstructured.Unstructured) string {
	end := s.Graph.Ref(f.End)
	for _, id := range f.permits {
		if o, read := objects[id]; read {
			if what, sure := f.Definition.Deletion.Permits.Denied(o.Object, end); what != "" && sure {
				return cluster.Located(o) + " does not permit " + what
			}
		}
	}
	return ""
}

// unpermitted says that the object could not be looked at, or not be understood, by which the
// program may delete an end. The program deletes nothing without it. That no such kind is served is
// not looked at.
func (s *search) unpermitted(f *named, objects map[graph.ID]*unstructured.Unstructured) string {
	p := f.Definition.Deletion.Permits
	if p == nil || len(s.kinds[schema.GroupKind{Group: p.Group, Kind: p.Kind}]) == 0 {
		return ""
	}
	for _, id := range f.permits {
		if o := objects[id]; o != nil {
			if what, sure := p.Denied(o.Object, s.Graph.Ref(f.End)); !sure {
				return cluster.Located(o) + " may not permit " + what
			}
			return ""
		}
	}
	what := p.Kind + " of " + graph.Located(f.identity.Kind, f.identity.Namespace, f.identity.Name)
	if len(f.permits) == 0 {
		return what + " was not found"
	}
	return what + " could not be read"
}

// owns reports whether the dependent of a link has an ownerReference to the owner.
func (s *search) owns(f link.Found) bool {
	dependent := f.Dependent()
	return dependent >= 0 && f.Owner() >= 0 && s.Graph.Owns(f.Owner(), dependent)
}

func unique(ids []graph.ID) []graph.ID {
	slices.Sort(ids)
	return slices.Compact(ids)
}
