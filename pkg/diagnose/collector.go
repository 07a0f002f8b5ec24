package diagnose

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/refusal"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
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
		if slices.ContainsFunc(e.refusal.Rejected(ctx, id),
			func(r core.Finding) bool { return r.Code == core.AdmissionDenied }) { // a second DELETE is no way around it
			f.Commands = nil
		}
		return e.aroundRefusal(e.Graph.Ref(id), refused, f)
	}
	f.Code, f.Actor, f.Moves = core.CollectorNotActing, "the garbage collector", e.movement(owner)
	f.Evidence = slices.Concat(f.Evidence, suspects, evidence)
	if life == actor.Dead {
		f.Code = core.CollectorNotRunning
	} else if broken := e.unconvertible(ctx); len(broken) > 0 {
		f.Evidence = append(f.Evidence, broken...)
		f.Remedy = "The collector lists every type before it begins, and older versions of Kubernetes do not begin while a type " +
			"cannot be listed: restore its conversion webhook. " + f.Usual()
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

// unconvertible says which types cannot be listed in every version, since whatever should convert
// their objects does not answer (https://github.com/kubernetes/kubernetes/issues/110720).
func (e *collector) unconvertible(ctx context.Context) []v1alpha1.Observation {
	all, _ := e.Reader.ListObjects(ctx, cluster.CRDs, "", cluster.Selection{}) // the reader notes it as a gap
	var broken []v1alpha1.Observation
	for _, crd := range all {
		s, converted := admission.Conversion(crd)
		if !converted || s.Name == "" {
			continue
		}
		if b := actor.BackendOf(ctx, e.Reader, s.Namespace, s.Name); b.Down {
			broken = append(broken, core.ObservedAt(cluster.Place(crd, "spec.conversion"),
				fmt.Sprintf("a webhook converts %s, and %s", crd.GetName(), b.Why))...)
		}
	}
	return broken[:min(len(broken), phrase.MaxNamed)]
}

// aroundRefusal adds to what refuses the collector's write how to do without that write: in front
// of the last command, which changes for everybody what refuses it.
func (e *collector) aroundRefusal(ref graph.Ref, refused []core.Finding, f core.Finding) []core.Finding {
	var without []core.Step
	for _, s := range f.Commands {
		if !s.Removes { // which is refused as well
			without = append(without, core.At(ref, s))
		}
	}
	return core.Found(ref, core.Each(refused, func(r *core.Finding) {
		if r.About == nil {
			r.Finalizer = f.Finalizer
		}
		r.Commands = slices.Insert(slices.Clone(r.Commands), max(len(r.Commands)-1, 0), without...)
	})...)
}

// controllerManager says whether kube-controller-manager lives.
func (e *collector) controllerManager(ctx context.Context) (actor.Life, []v1alpha1.Observation) {
	a, err := e.Actors.Collector(ctx)
	if err != nil {
		return actor.Unknown, nil
	}
	return a.Life, a.Evidence
}
