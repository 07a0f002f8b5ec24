package act

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// block makes those of an action's references block that are there, whatever has changed, and
// returns the object as it was answered. Setting blockOwnerDeletion can take the right to update
// the owner's finalizers (API-037).
func block(ctx context.Context, client *cluster.Client, g *graph.Graph, a plan.Action,
	opts cluster.PatchOptions) (*graph.Object, error) {
	owners := map[string]bool{} // the uids that the references are to name
	for e := range g.Owners(a.Object) {
		if slices.Contains(a.Edges, e.Index) {
			owners[g.Ref(e.Owner).UID] = true
		}
	}
	return objectOf(client, g, a).Patch(ctx, change.Patch{
		PatchOptions: opts,
		Seen:         listedAs(g, a.Object),
		Decide: func(now *graph.Object) (steps []cluster.PatchStep, err error) {
			for i, ref := range now.Owners {
				if owners[ref.UID] && !ref.Block {
					steps = append(steps, change.SetInReference(i, ref.UID, "blockOwnerDeletion", true)...)
				}
			}
			return steps, nil
		},
		Verify: func(answered *graph.Object) error {
			if slices.ContainsFunc(answered.Owners,
				func(ref graph.OwnerReference) bool { return owners[ref.UID] && !ref.Block }) {
				return change.ErrNotShown
			}
			return nil
		},
	})
}
