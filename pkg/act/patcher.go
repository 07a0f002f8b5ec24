package act

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// patcher changes one object, again if the object has changed meanwhile.
type patcher struct {
	client *cluster.Client
	t      graph.Type
	ref    graph.Ref
	opts   cluster.PatchOptions
	// now is the object as it was seen last.
	now *graph.Object
}

func newPatcher(client *cluster.Client, g *graph.Graph, a plan.Action, opts cluster.PatchOptions) *patcher {
	t, _ := g.Type(a.Object)
	return &patcher{client, t, g.Ref(a.Object), opts, listedAs(g, a.Object)}
}

// patch makes the steps, which may depend on the object as it was seen last; without any there is nothing to change. Each attempt comes after a test that the object is
// that one. If it is not, changed decides what to do about it as it is now. The error is errGone or errReplaced if there is nothing to patch any more.
func (p *patcher) patch(ctx context.Context, steps func() []cluster.PatchStep, changed func(now *graph.Object) error) (*graph.Object, error) {
	for range maxTries {
		todo := steps()
		if len(todo) == 0 {
			return p.now, nil
		}
		todo = append(cluster.Unchanged(p.ref.UID, p.now.ResourceVersion), todo...)
		answer, refusal := p.client.Patch(ctx, p.t, p.ref.Namespace, p.ref.Name, todo, p.opts)
		switch {
		case refusal == nil:
			return answer, nil
		case !ambiguous(refusal) && !apierrors.IsInvalid(refusal):
			return nil, refusal
		}
		// A test has failed, or the object would not be valid, which comes out when it is as it was (T-17).
		now, err := reread(ctx, p.client, p.t, p.ref, refusal)
		switch {
		case err != nil:
			return nil, err
		case apierrors.IsNotFound(refusal), now.ResourceVersion == p.now.ResourceVersion:
			return nil, refusal
		}
		if err := changed(now); err != nil {
			return nil, err
		}
		p.now = now
	}
	return nil, changedTooOften(p.ref, "patched")
}
