package deletion

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// mostActors is of how many finalizers it is looked whether those who remove them run.
const mostActors = 16

// findIdle finds out which finalizers that the deletion waits for nobody removes, because their
// actors are there and do not run: of each finalizer and kind at one object. Actors without
// workloads of their own, which are those of the control plane, are not looked for.
func findIdle(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan,
	f *plan.Details) error {
	finder := actor.NewFinder(reader, known)
	classes := finder.Classes(p.Graph, blockers(p), mostActors,
		func(_ string, k finalizer.Known, isKnown bool) (looked, byNamespace bool) {
			return isKnown && k.Alive.HasWorkloads(), false
		})
	idle := make([]*plan.Idle, len(classes))
	err := finder.Survey(ctx, p.Graph, classes,
		func(_ context.Context, i int, _ *unstructured.Unstructured, a actor.Actor) {
			if a.Life == actor.Dead && len(a.Workloads)+len(a.Scaled) > 0 {
				idle[i] = &plan.Idle{Object: classes[i].Objects[0], Finalizer: classes[i].Finalizer, Actor: a.Who,
					Because: a.Says()}
			}
		})
	for _, w := range idle {
		if w != nil {
			f.Idle = append(f.Idle, *w)
		}
	}
	return err
}
