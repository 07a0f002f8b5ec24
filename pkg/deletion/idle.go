package deletion

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// mostActors is of how many finalizers it is looked whether those who remove them run.
const mostActors = 16

// findIdle finds out which finalizers that the deletion waits for nobody removes, because their actors are there and do not run: of each finalizer and kind at one
// object. Actors without workloads of their own, which are those of the control plane, are not looked for.
func findIdle(ctx context.Context, client *cluster.Client, reader *cluster.Reader, known *finalizer.Registry, p *plan.Plan, f *plan.Details) error {
	waits := awaited(known, p)
	finder := actor.NewFinder(reader, known)
	idle := make([]bool, len(waits))
	var group errgroup.Group
	group.SetLimit(client.Concurrency())
	for i := range waits {
		group.Go(func() error {
			w := &waits[i]
			t, _ := p.Graph.Type(w.Object)
			ref := p.Graph.Ref(w.Object)
			o, err := client.GetObject(ctx, t, ref.Namespace, ref.Name)
			if err != nil || string(o.GetUID()) != ref.UID {
				return nil // which the deletion itself will tell
			}
			a, err := finder.Of(ctx, o, w.Finalizer)
			idle[i] = err == nil && a.Life == actor.Dead && len(a.Workloads)+len(a.Scaled) > 0
			w.Actor, w.Because = a.Who, a.Says()
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, w := range waits {
		if idle[i] {
			f.Idle = append(f.Idle, w)
		}
	}
	return nil
}

// awaited are the finalizers of others that have workloads to look for, each with one object that carries it.
func awaited(known *finalizer.Registry, p *plan.Plan) []plan.Idle {
	type sort struct{ group, kind, finalizer string }
	seen := map[sort]bool{}
	var waits []plan.Idle
	for _, b := range p.Blockers {
		ref := p.Graph.Ref(b.Object)
		for _, name := range b.Finalizers {
			k, ok := known.Lookup(name, ref.Group(), ref.Kind)
			s := sort{ref.Group(), ref.Kind, name}
			if !ok || k.Fallback || !hasWorkloads(k.Alive) || seen[s] || len(waits) == mostActors {
				continue
			}
			seen[s] = true
			waits = append(waits, plan.Idle{Object: b.Object, Finalizer: name})
		}
	}
	return waits
}

func hasWorkloads(a finalizer.Alive) bool {
	return len(a.Deployments)+len(a.StatefulSets)+len(a.DaemonSets)+len(a.Labels)+len(a.Images) > 0
}
