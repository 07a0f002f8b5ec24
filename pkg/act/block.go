package act

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// blocker makes references of one object block.
type blocker struct {
	client *cluster.Client
	t      graph.Type
	ref    graph.Ref
	opts   cluster.PatchOptions
	// owners are the uids that the references are to name, now the object as it was seen last.
	owners map[string]bool
	now    *graph.Object
}

func newBlocker(client *cluster.Client, g *graph.Graph, a plan.Action, opts cluster.PatchOptions) *blocker {
	t, _ := g.Type(a.Object)
	b := &blocker{client: client, t: t, ref: g.Ref(a.Object), opts: opts, owners: map[string]bool{}}
	for e := range g.Owners(a.Object) {
		for _, index := range a.Edges {
			if e.Index == index {
				b.owners[g.Ref(e.Owner).UID] = true
			}
		}
	}
	b.now = &graph.Object{UID: b.ref.UID, ResourceVersion: g.ResourceVersion(a.Object), Owners: references(g, a.Object)}
	return b
}

// do patches the object and returns it as it was answered. The error is errGone or errReplaced if there is nothing to patch any more. Setting
// blockOwnerDeletion can take the right to update the owner's finalizers (API-037).
func (b *blocker) do(ctx context.Context) (*graph.Object, error) {
	for range maxTries {
		steps := b.steps()
		if len(steps) == 0 {
			return b.now, nil // somebody else has made them block, or removed them
		}
		steps = append(cluster.Unchanged(b.ref.UID, b.now.ResourceVersion), steps...)
		answer, refusal := b.client.Patch(ctx, b.t, b.ref.Namespace, b.ref.Name, steps, b.opts)
		switch {
		case refusal == nil:
			return answer, b.verify(answer)
		case !ambiguous(refusal) && !apierrors.IsInvalid(refusal):
			return nil, refusal
		}
		// A test has failed, or the object would not be valid, which comes out when it is as it was (T-17).
		now, err := reread(ctx, b.client, b.t, b.ref, refusal)
		switch {
		case err != nil:
			return nil, err
		case apierrors.IsNotFound(refusal), now.ResourceVersion == b.now.ResourceVersion:
			return nil, refusal
		}
		b.now = now
	}
	return nil, changedTooOften(b.ref, "patched")
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
