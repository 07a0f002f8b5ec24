package diagnose

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/refusal"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// collector says what the garbage collector has to do, and whether it does.
type collector struct {
	*core.Examination
	refusal    *refusal.Examiner
	projection *plan.Projection
	opts       Options
	// rings are the deadlocks by each of their members.
	rings map[graph.ID][]graph.Edge
	// movements are by the owner or the namespace in which something is to happen.
	movements map[graph.ID]*core.Movement
	canary    *canary // nil before it has run
}

func newCollector(c *core.Examination, r *refusal.Examiner, opts Options) *collector {
	e := &collector{
		Examination: c, refusal: r, opts: opts, projection: plan.NewProjection(c.Graph, plan.Options{Rules: plan.Upstream}),
		rings: map[graph.ID][]graph.Edge{}, movements: map[graph.ID]*core.Movement{},
	}
	for _, ring := range e.projection.Deadlocks() {
		for _, edge := range ring {
			e.rings[edge.Dependent] = ring
		}
	}
	return e
}

// decide returns what the collector has to do with an object, and its references, with the state of
// the owner that each names.
func (e *collector) decide(id graph.ID) (plan.Do, []graph.Edge, []plan.OwnerState) {
	item, refs := e.projection.Item(id)
	for _, edge := range refs {
		item.Owners = append(item.Owners, e.projection.OwnerState(edge))
	}
	return plan.Decide(item, plan.Upstream).Do, refs, item.Owners
}

// collectors is what there is to say when it is the garbage collector's turn and it does nothing.
// What the finding has already is kept. Whether it does something after all shows at the owner and
// its dependents.
func (e *collector) collectors(ctx context.Context, id, owner graph.ID, f core.Finding) []core.Finding {
	life, evidence := e.controllerManager(ctx)
	refused, suspects := e.refusal.RefusedToController(ctx, id, f.Finalizer, refusal.CollectorAccount)
	if len(refused) > 0 {
		refused[0].Evidence = append(slices.Clone(f.Evidence), refused[0].Evidence...)
		return core.Found(e.Graph.Ref(id), refused...)
	}
	f.Code, f.Actor, f.Moves = core.CollectorNotActing, "the garbage collector", e.movement(owner)
	f.Evidence = slices.Concat(f.Evidence, suspects, evidence)
	if life == actor.Dead {
		f.Code = core.CollectorNotRunning
	}
	if e.opts.Probe {
		if e.canary == nil {
			e.canary = new(runCanary(ctx, e.Client, e.Catalog))
		}
		f.Observe("%s", e.canary.says)
		if e.canary.collected {
			f.Code = core.CollectorNotActing
			f.Remedy = "The garbage collector works, but has not processed this object or cannot write to it. " +
				"Check the log of kube-controller-manager. kubectl gc can do the collector's part meanwhile."
		}
	}
	part := gcRun(e.Graph.Namespace(id)).Doing("does the garbage collector's part from here, after showing what")
	f.Commands = append([]core.Step{part}, f.Commands...)
	return core.Found(e.Graph.Ref(id), f)
}

// controllerManager says whether kube-controller-manager lives.
func (e *collector) controllerManager(ctx context.Context) (actor.Life, []v1alpha1.Observation) {
	a, err := e.Actors.Collector(ctx)
	if err != nil {
		return actor.Unknown, nil
	}
	return a.Life, a.Evidence
}
