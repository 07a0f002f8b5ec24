package deletion

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// mostActors is of how many finalizers it is looked whether those who remove them run: each costs
// some requests before a plan is shown, and few cascades have more than these. The plan says how many
// were left out.
const mostActors = 16

// findIdle finds out which finalizers that the deletion waits for nobody removes, because their
// actors are there and do not run: of each finalizer and kind at one object. Actors without
// workloads of their own, which are those of the control plane, are not looked for.
func findIdle(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan,
	f *plan.Details) error {
	finder := actor.NewFinder(reader, known)
	classes, more := finder.Classes(p.Graph, blockers(p), mostActors,
		func(_ string, k finalizer.Known, isKnown bool) bool { return isKnown && k.Alive.HasWorkloads() })
	idle, left, err := actor.Survey(ctx, finder, p.Graph, classes, mostActors,
		func(_ context.Context, c *actor.Class, _ *unstructured.Unstructured, a actor.Actor) *v1alpha1.IdleActor {
			if a.Life != actor.Dead || len(a.Workloads)+len(a.Scaled) == 0 {
				return nil
			}
			return &v1alpha1.IdleActor{Object: p.Graph.Ref(c.Objects[0]), Finalizer: c.Finalizer, Actor: a.Who,
				Evidence: a.Says()}
		})
	f.Unexamined = more + left
	for _, w := range idle {
		if w != nil {
			f.Idle = append(f.Idle, *w)
		}
	}
	return err
}
