package deletion

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Staying are the objects that a plan deletes although the manifests after the change have them:
// an owner goes, a namespace, or what defines their type.
func (p *Planned) Staying() []graph.ID {
	if p.Plan == nil || p.planner == nil || len(p.planner.stays) == 0 {
		return nil
	}
	var all []graph.ID
	for _, id := range p.Deleted {
		ref := p.Graph.Ref(id)
		if p.planner.stays[selection.Place{Group: ref.Group(), Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}] {
			all = append(all, id)
		}
	}
	return all
}

// leave returns those of the objects that the request's pruner leaves, and why, by live reads of their
// metadata and of what they were applied for. What could not be read counts as pruned, and is a gap.
func (pl *planner) leave(ctx context.Context, reader *cluster.Reader, g *graph.Graph,
	ids []graph.ID) (map[graph.ID]string, []v1alpha1.Gap, error) {
	by := pl.request.Pruner
	if by == nil {
		return nil, nil, nil
	}
	whys, errs := make([]string, len(ids)), make([]error, len(ids))
	cluster.Each(pl.client, ids, func(i int, id graph.ID) {
		whys[i], errs[i] = pl.leaves(ctx, reader, g, id)
	})
	left := map[graph.ID]string{}
	var gaps []v1alpha1.Gap
	for i, id := range ids {
		if whys[i] != "" {
			left[id] = whys[i]
		}
		if errs[i] == nil {
			continue
		}
		t, _ := g.Type(id)
		ref := g.Ref(id)
		gap, is := cluster.GapOf(ctx, t, ref.Namespace, errs[i])
		if !is {
			gap = v1alpha1.Gap{Resource: t.Resource, Group: t.Group, Namespace: ref.Namespace, Reason: v1alpha1.GapFailed,
				Message: errs[i].Error()}
		}
		gap.Links, gap.Message = true, fmt.Sprintf("whether %s prunes %s: %s", by.By, ref.KindName(), gap.Message)
		gaps = append(gaps, gap)
	}
	return left, gaps, context.Cause(ctx)
}

// leaves says why the pruner leaves an object; empty if it prunes it.
func (pl *planner) leaves(ctx context.Context, reader *cluster.Reader, g *graph.Graph, id graph.ID) (string, error) {
	by, ref := pl.request.Pruner, g.Ref(id)
	t, _ := g.Type(id)
	o, err := pl.client.GetObjectMeta(ctx, t, ref.Namespace, ref.Name)
	switch {
	case cluster.IsAbsent(err, t, ref.Name):
		return "", nil // the delete of it will tell
	case err != nil:
		return "", err
	case string(o.GetUID()) != ref.UID:
		return "", nil // another has its name by now, and says nothing of it
	}
	if why, leaves := by.Leaves(t.Group, t.Kind, o.Object); leaves {
		return why, nil
	}
	parents, err := by.ParentsOf(o.Object)
	if err != nil {
		return "", err
	}
	for _, n := range parents {
		name := n.Kind + "/" + n.Name
		of, served := reader.KindIn(n.Group, n.Kind)
		if !served {
			return "", fmt.Errorf("discovery does not show the type of %s", name)
		}
		resource := schema.GroupResource{Group: of.Group, Resource: of.Resource}
		parent, err := reader.GetObject(ctx, resource, n.Namespace, n.Name)
		switch {
		case err != nil:
			return "", err
		case parent == nil:
			return fmt.Sprintf("%s does not prune it: %s in namespace %s does not exist", by.By, name, n.Namespace), nil
		}
		if because, met := link.AnyMet(by.Never, parent.Object); met {
			return fmt.Sprintf("%s does not prune it: %s of %s", by.By, because, name), nil
		}
	}
	return "", nil
}
