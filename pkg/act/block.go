package act

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// blocker makes references of one object block.
type blocker struct {
	*patcher
	owners map[string]bool // the uids that the references are to name
}

func newBlocker(client *cluster.Client, g *graph.Graph, a plan.Action, opts cluster.PatchOptions) *blocker {
	b := &blocker{newPatcher(client, g, a, opts), map[string]bool{}}
	for e := range g.Owners(a.Object) {
		if slices.Contains(a.Edges, e.Index) {
			b.owners[g.Ref(e.Owner).UID] = true
		}
	}
	return b
}

// do makes those block that are there, whatever has changed. Setting blockOwnerDeletion can take the right to update the owner's finalizers (API-037).
func (b *blocker) do(ctx context.Context) (*graph.Object, error) {
	answer, err := b.patch(ctx, b.steps, func(*graph.Object) error { return nil })
	if err != nil {
		return nil, err
	}
	return answer, b.verify(answer)
}

// steps set blockOwnerDeletion on the references, each after a test that it is the one that is meant.
func (b *blocker) steps() []cluster.PatchStep {
	var steps []cluster.PatchStep
	for i, ref := range b.now.Owners {
		if b.owners[ref.UID] && !ref.Block {
			path := fmt.Sprintf("/metadata/ownerReferences/%d/", i)
			steps = append(steps,
				cluster.PatchStep{Op: "test", Path: path + "uid", Value: ref.UID},
				cluster.PatchStep{Op: "add", Path: path + "blockOwnerDeletion", Value: true})
		}
	}
	return steps
}

// verify sees that nobody has changed the answer on its way (API-033).
func (b *blocker) verify(answer *graph.Object) error {
	for _, ref := range answer.Owners {
		if b.owners[ref.UID] && !ref.Block {
			return errors.New("the server has taken the change and does not show it; a webhook may have undone it")
		}
	}
	return nil
}
