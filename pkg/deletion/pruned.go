package deletion

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
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

// pruning is what the request's pruner does with an object.
type pruning struct {
	// leaves says why it leaves the object; empty if it prunes it.
	leaves string
	// waits are for what it waits before that, and policy is how it deletes it; empty for its usual way.
	waits  []string
	policy plan.Policy
}

// PruneWait is an object that who prunes does not delete by itself.
type PruneWait struct {
	Object graph.ID
	// Says is until when, and why.
	Says string
}

// leave returns those of the objects that the request's pruner leaves, and why, by live reads of their
// metadata and of what they were applied for. What could not be read counts as pruned, and is a gap.
// Policies are those of the objects that it deletes in another way than its usual one, and p gets those
// that it does not prune by itself.
func (pl *planner) leave(ctx context.Context, reader *cluster.Reader, g *graph.Graph, ids []graph.ID,
	p *Planned) (left map[graph.ID]string, policies map[graph.ID]plan.Policy, gaps []v1alpha1.Gap, err error) {
	by := pl.request.Pruner
	if by == nil {
		return nil, nil, nil, nil
	}
	does, errs := make([]pruning, len(ids)), make([]error, len(ids))
	cluster.Each(pl.client, ids, func(i int, id graph.ID) {
		does[i], errs[i] = pl.pruningOf(ctx, reader, g, id)
	})
	left, policies = map[graph.ID]string{}, map[graph.ID]plan.Policy{}
	for i, id := range ids {
		if does[i].leaves != "" {
			left[id] = does[i].leaves
		}
		if does[i].policy != "" {
			policies[id] = does[i].policy
		}
		for _, says := range does[i].waits {
			p.PruneWaits = append(p.PruneWaits, PruneWait{id, says})
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
	return left, policies, gaps, context.Cause(ctx)
}

// pruningOf finds out what the pruner does with an object.
func (pl *planner) pruningOf(ctx context.Context, reader *cluster.Reader, g *graph.Graph,
	id graph.ID) (pruning, error) {
	by, ref := pl.request.Pruner, g.Ref(id)
	t, _ := g.Type(id)
	o, err := pl.client.GetObjectMeta(ctx, t, ref.Namespace, ref.Name)
	switch {
	case cluster.IsAbsent(err, t, ref.Name):
		return pruning{}, nil // the delete of it will tell
	case err != nil:
		return pruning{}, err
	case string(o.GetUID()) != ref.UID:
		return pruning{}, nil // another has its name by now, and says nothing of it
	}
	if why, leaves := by.Leaves(t.Group, t.Kind, o.Object); leaves {
		return pruning{leaves: why}, nil
	}
	parents, err := by.ParentsOf(o.Object)
	var read []link.Applied
	for _, n := range parents {
		name := n.Kind + "/" + n.Name
		parent, unread := parentOf(ctx, reader, n, by.Elsewhere)
		switch {
		case unread != nil:
			err = unread
			continue
		case parent == nil && by.Elsewhere:
			continue
		case parent == nil:
			return pruning{leaves: fmt.Sprintf("%s does not prune it: %s in namespace %s does not exist", by.By, name,
				n.Namespace)}, nil
		}
		if because, met := link.AnyMet(by.Never, parent.Object); met {
			return pruning{leaves: fmt.Sprintf("%s does not prune it: %s of %s", by.By, because, name)}, nil
		}
		read = append(read, link.Applied{Name: name, Object: parent.Object})
	}
	does := pruning{waits: by.WaitsFor(o.Object, read)}
	if policy := by.PolicyFor(read); policy != by.Policy {
		does.policy, _ = plan.ParsePolicy(string(policy)) // it is one of the three
	}
	return does, err
}

// parentOf reads what an object was applied for; nil if it does not exist. That its type is not
// served is no error of one that may be elsewhere.
func parentOf(ctx context.Context, reader *cluster.Reader, n link.Named, elsewhere bool) (*unstructured.Unstructured,
	error) {
	of, served := reader.KindIn(n.Group, n.Kind)
	switch {
	case served:
		return reader.GetObject(ctx, of.GroupResource(), n.Namespace, n.Name)
	case elsewhere:
		return nil, nil
	}
	return nil, fmt.Errorf("discovery does not show the type of %s/%s", n.Kind, n.Name)
}
