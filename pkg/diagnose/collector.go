package diagnose

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// collector says what the garbage collector has to do, and whether it does.
type collector struct {
	*core
	refusal    *refusal
	projection *plan.Projection
	// rings are the deadlocks by each of their members.
	rings map[graph.ID][]graph.Edge
	// movements are by the owner or the namespace in which something is to happen.
	movements map[graph.ID]*movement
	// probe allows to write the canary.
	probe  bool
	canary canary
}

func newCollector(c *core, r *refusal, probe bool) *collector {
	e := &collector{
		core: c, refusal: r, probe: probe, projection: plan.NewProjection(c.Graph, plan.Options{Rules: plan.Upstream}),
		rings: map[graph.ID][]graph.Edge{}, movements: map[graph.ID]*movement{},
	}
	for _, ring := range e.projection.Deadlocks() {
		for _, edge := range ring {
			e.rings[edge.Dependent] = ring
		}
	}
	return e
}

const doesRun = "does the garbage collector's part from here, after showing what"

// collectors is what there is to say when it is the garbage collector's turn and it does nothing. What the finding has already is kept. Whether it does
// something after all shows at the owner and its dependents.
func (e *collector) collectors(ctx context.Context, id, owner graph.ID, f finding) []finding {
	f.moves = e.movement(owner)
	about := v1alpha1.ObjectRef(e.Graph.Ref(id))
	life, evidence := e.controllerManager(ctx)
	refused, suspects := e.refusal.refusedToController(ctx, id, f.finalizer, collectorAccount)
	if len(refused) > 0 {
		refused[0].evidence = append(slices.Clone(f.evidence), refused[0].evidence...)
		return found(e.Graph.Ref(id), refused...)
	}
	f.evidence = append(f.evidence, suspects...)
	f.code = CollectorNotActing
	f.evidence = append(f.evidence, evidence...)
	f.remedy = "Check the log of kube-controller-manager, which runs the garbage collector. kubectl gc can do the collector's part meanwhile."
	if life == actor.Dead {
		f.code = CollectorNotRunning
		f.remedy = "Start kube-controller-manager again. It runs the garbage collector. kubectl gc can do the collector's part meanwhile."
	}
	if e.probe {
		c := e.canary.fly(ctx, e.client, e.Catalog)
		f.evidence = append(f.evidence, observed(c.says)...)
		if c.collected {
			f.code = CollectorNotActing
			f.remedy = "The garbage collector works, but has not processed this object or cannot write to it. Check the log of kube-controller-manager. kubectl gc can do the collector's part meanwhile."
		}
	}
	run := command("kubectl", "gc", "run").doing(doesRun)
	if about.Namespace != "" {
		run = command("kubectl", "gc", "run", "-n", about.Namespace).doing(doesRun)
	}
	f.commands = append([]step{run}, f.commands...)
	f.actor = "the garbage collector"
	return found(e.Graph.Ref(id), f)
}

// controllerManager says whether kube-controller-manager lives, by what is known of a finalizer that one of its controllers removes.
func (e *collector) controllerManager(ctx context.Context) (actor.Life, []v1alpha1.Observation) {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	a, err := e.actors.Of(ctx, o, plan.ForegroundFinalizer)
	if err != nil {
		return actor.Unknown, nil
	}
	return a.Life, a.Evidence
}

// dueFor says for how long something has been due, as evidence.
func (e *collector) dueFor(id graph.ID) string {
	return fmt.Sprintf("deleted %s ago", phrase.Ago(e.past(id)))
}
