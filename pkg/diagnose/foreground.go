package diagnose

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// foreground returns what an owner that is deleted in the foreground waits for: the blocking
// dependents that are left (GC-061), and what holds those.
func (e *collector) foreground(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	if ring, ok := e.rings[id]; ok {
		return core.Found(ref, e.ring(ring))
	}
	var findings []core.Finding
	blocked := false
	for edge := range e.Graph.Dependents(id) {
		if !e.projection.Blocks(edge) {
			continue
		}
		blocked = true
		dependent := e.Graph.Ref(edge.Dependent)
		keeps := e.blocker(ctx, edge)
		if i := slices.IndexFunc(keeps, func(f core.Finding) bool { return awaits(f, ref) }); i >= 0 {
			findings = append(findings, core.Found(ref, e.awaitsOwner(edge, keeps[i]))...)
			continue
		}
		findings = append(findings, core.Behind(dependent, keeps)...)
	}
	if blocked {
		return findings
	}
	f := core.Finding{
		Finalizer: plan.ForegroundFinalizer, Evidence: core.Observed("no dependent that blocks it is left"),
		Commands: []core.Step{again()},
	}
	hiding := e.Graph.Hiding(e.Gaps, ref)
	if len(hiding) > 0 {
		f.Evidence = core.Observed(actor.GapClauses(hiding...)...)
	}
	findings = e.collectors(ctx, id, id, f)
	if len(hiding) > 0 { // what refuses the collector's write, or that it does not run, is a cause all the same
		f.Code, f.Args = core.BlockerHidden, []string{"{see}", e.ToSee(hiding)}
		return core.Each(findings, func(g *core.Finding) {
			if g.Code == core.CollectorNotActing {
				*g = core.Found(ref, f)[0]
			}
		})
	}
	unseen := slices.DeleteFunc(slices.Clone(e.Gaps), func(gap v1alpha1.Gap) bool {
		namespaced, known := e.Graph.Scope(gap.Group, gap.Resource)
		return namespaced || !known
	})
	if len(unseen) == 0 { // those of a cluster-scoped owner would hide a dependent
		return findings
	}
	return core.Each(findings, func(f *core.Finding) {
		if f.Code == core.CollectorNotActing { // it waits, if an object of these names the owner (GC-048)
			f.Code, f.Args = core.BlockerHidden, []string{"{see}", e.ToSee(unseen)}
			f.Sentence = "no dependent that could be listed blocks it, and the garbage collector has not deleted it"
			f.Evidence = append(f.Evidence, core.Observed(actor.GapClauses(unseen...)...)...)
			f.Observe("a cluster-scoped object that names it as its owner, which is invalid, blocks it too")
		}
	})
}

// awaits reports whether what keeps an object is that it waits for another one.
func awaits(f core.Finding, ref graph.Ref) bool {
	return (f.Code == core.ActorWaiting || f.Code == core.InUse) && f.About != nil && f.About.UID == ref.UID
}

// awaitsOwner is for a dependent whose finalizer stays until its owner is gone, which waits for it
// in the foreground. The owner that does not wait any more ends that.
func (e *collector) awaitsOwner(edge graph.Edge, keeps core.Finding) core.Finding {
	f := core.Finding{Code: core.ForegroundDeadlock, Finalizer: plan.ForegroundFinalizer, Commands: []core.Step{again()}}
	f.Observe("%s waits for %s", e.named(edge.Owner), e.named(edge.Dependent))
	f.Evidence = append(f.Evidence, keeps.Evidence...)
	f.Sentence = e.named(edge.Owner) + " is deleted in the foreground and waits for " + e.named(edge.Dependent) +
		", whose finalizer " + keeps.Finalizer + " stays until it is gone"
	f.Remedy = "Delete " + e.named(edge.Owner) + " again in the background: it no longer waits, and the other follows."
	return f
}

// blocker returns why a dependent that blocks its owner is still there.
func (e *collector) blocker(ctx context.Context, edge graph.Edge) []core.Finding {
	id := edge.Dependent
	if f, never := e.neverCollected(id); never && e.Graph.DeletionTimestamp(id) == 0 {
		f.Commands = append(f.Commands, core.At(e.Graph.Ref(edge.Owner), again()))
		return core.Found(e.Graph.Ref(id), f)
	}
	if f, made := e.recreated(ctx, edge); made {
		return e.behindRecreated(ctx, edge, f)
	}
	return e.Causes(ctx, id)
}

// neverCollected says that the collector gives up on an object because of one of its references.
func (e *collector) neverCollected(id graph.ID) (core.Finding, bool) {
	f := core.Finding{Commands: []core.Step{
		core.Command("kubectl", "gc", "delete",
			"OBJECT").Doing("deletes the dependent, after showing what is deleted with it"),
	}}
	for edge := range e.Graph.Owners(id) {
		switch {
		case edge.Problem&graph.WrongScope != 0:
			f.Code = core.BlockerBadScope
			f.Observe("it is cluster-scoped and names %s %s as its owner, which is in a namespace: "+
				"the garbage collector never collects it", edge.Kind, edge.Name)
			return f, true
		case edge.Problem&graph.Unresolvable != 0 && !e.MayBeServed((graph.Ref{APIVersion: edge.APIVersion}).Group()):
			f.Code = core.BlockerUnresolvable
			f.Observe("it names %s %s of %s as an owner, which is not served: "+
				"the garbage collector tries again forever and never collects it", edge.Kind, edge.Name, edge.APIVersion)
			return f, true
		}
	}
	return f, false
}

// ring is the cause that a cycle of waiting objects is. One reference that does not block any more
// is enough.
func (e *collector) ring(ring []graph.Edge) core.Finding {
	if len(ring) == 1 {
		return core.Finding{
			Code: core.SelfReference, Finalizer: plan.ForegroundFinalizer,
			Evidence: core.Observed("it owns itself, with blockOwnerDeletion, and waits for itself"),
			Commands: []core.Step{again(), unlock(ring[0], e.Graph)},
		}
	}
	f := core.Finding{Code: core.ForegroundDeadlock, Finalizer: plan.ForegroundFinalizer}
	first := ring[0].Owner
	for _, edge := range ring {
		first = min(first, edge.Dependent)
		f.Observe("%s waits for %s", e.named(edge.Owner), e.named(edge.Dependent))
	}
	f.About, f.Commands = new(e.Graph.Ref(first)), []core.Step{again(), unlock(ring[0], e.Graph)}
	return f
}

// unlock is the command that takes blockOwnerDeletion off one reference of a ring, for a cluster
// whose collector does nothing afterwards either.
func unlock(edge graph.Edge, g *graph.Graph) core.Step {
	return gcRun(g.Namespace(edge.Dependent), "--break-deadlocks").
		Doing("sets blockOwnerDeletion to false on one reference, and does the garbage collector's part from here")
}

// gcRun is the command that does the collector's part in a namespace, or everywhere if it is empty.
func gcRun(namespace string, flags ...string) core.Step {
	args := []string{"kubectl", "gc", "run"}
	if namespace != "" {
		args = append(args, "-n", namespace)
	}
	return core.Command(append(args, flags...)...)
}

// orphan returns what keeps an owner whose dependents are to be orphaned: only the collector
// removes the finalizer, after the references (GC-067).
func (e *collector) orphan(ctx context.Context, id graph.ID) []core.Finding {
	n := len(slices.Collect(e.Graph.Dependents(id)))
	if refused := e.refusedDependents(ctx, id); len(refused) > 0 {
		return refused
	}
	var evidence []v1alpha1.Observation
	hiding := e.Graph.Hiding(e.Gaps, e.Graph.Ref(id))
	switch {
	case n > 0:
		evidence = core.Seen("%s still %s it as an owner", phrase.Count(n, "dependent"), phrase.Plural(n, "names", "name"))
	case len(hiding) > 0:
		evidence = append(core.Observed("no dependent was seen that names it"), core.Observed(actor.GapClauses(hiding...)...)...)
	default:
		evidence = core.Observed("no dependent names it")
	}
	remove := core.Remove(plan.OrphanFinalizer).
		Safely("removes the references of its dependents to it, and then the finalizer")
	if life, _ := e.controllerManager(ctx); life == actor.Alive {
		remove = remove.Forced()
	}
	f := core.Finding{Finalizer: plan.OrphanFinalizer, Evidence: evidence}
	if len(hiding) == 0 { // or it is refused, whatever the flags
		f.Commands = []core.Step{remove}
	}
	return e.collectors(ctx, id, id, f)
}

// refusedDependents returns who refuses to the collector to take the references to an owner off its
// dependents, which it does first. It is asked about one of each type.
func (e *collector) refusedDependents(ctx context.Context, owner graph.ID) []core.Finding {
	var findings []core.Finding
	asked := map[graph.Type]bool{}
	for edge := range e.Graph.Dependents(owner) {
		if t, ok := e.Graph.Type(edge.Dependent); !ok || asked[t] {
			continue
		} else {
			asked[t] = true
		}
		dependent := e.Graph.Ref(edge.Dependent)
		refused := e.refusal.RefusedToOrphan(ctx, edge.Dependent, owner)
		findings = append(findings, core.Behind(dependent, core.Found(dependent, refused...))...)
	}
	return findings
}

// again is the command that deletes an object once more with another policy, which takes the
// collector's finalizer off (API-004).
func again() core.Step {
	return core.Command("kubectl", "gc", "delete", "OBJECT", "--cascade=background").
		Doing("deletes it again in the background, so that it does not wait for its dependents")
}

// named writes kind and name of an object.
func (e *collector) named(id graph.ID) string {
	ref := e.Graph.Ref(id)
	return ref.Kind + " " + ref.Name
}
