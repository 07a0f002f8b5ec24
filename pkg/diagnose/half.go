package diagnose

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// half returns that nothing holds an object: whoever took the last finalizer off did it before the deletion, or the server stopped in between. Any further
// DELETE ends it (API-020, RO-063).
func (e *examiner) half(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	o, err := e.Object(ctx, id)
	if err != nil || o == nil || string(o.GetUID()) != ref.UID || len(o.GetFinalizers()) > 0 {
		return nil
	}
	rejected := core.Found(ref, e.refusal.Rejected(ctx, id)...)
	f := core.Finding{
		Code: core.HalfDeleted, Evidence: core.Observed("it has a deletionTimestamp, no finalizers and no grace period left"),
		Commands: []core.Step{core.Command("kubectl", "delete", "OBJECT").Doing("has the server complete the deletion")},
	}
	if len(rejected) > 0 { // which comes first
		f.After = 1
	}
	return append(rejected, core.Found(ref, f)...)
}

// asked is for an object that was asked about by name and is not being deleted: whether it could be.
func (e *examiner) asked(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	if refused := e.refusal.Rejected(ctx, id); len(refused) > 0 {
		for i := range refused {
			if refused[i].At != (graph.Ref{}) {
				continue // it was found at what the object is kept for
			}
			refused[i].Evidence = append(core.Observed("it is not being deleted: a DELETE is rejected"), refused[i].Evidence...)
		}
		return core.Found(ref, refused...)
	}
	f := core.Finding{Code: core.NotDeleting, Evidence: core.Observed("it has no deletionTimestamp")}
	t, _ := e.Graph.Type(id)
	switch {
	case e.refusal.UntriedDeletion(ctx, id) != nil:
		f.Evidence = append(f.Evidence, e.refusal.UntriedDeletion(ctx, id)...)
	case e.Reviews.Ask(ctx, []cluster.Access{{Verb: "delete", Type: t, Namespace: ref.Namespace, Name: ref.Name}})[0].Permission == cluster.Denied:
		f.Observe("you may not delete it")
	default:
		f.Observe("the server would accept a DELETE")
	}
	return core.Found(ref, f)
}

// alive returns why an object that is not being deleted is still there although an owner waits for it.
func (e *examiner) alive(ctx context.Context, id graph.ID) []core.Finding {
	item, refs := e.collector.projection.Item(id)
	waiting := -1
	for i, edge := range refs {
		state := e.collector.projection.OwnerState(edge)
		item.Owners = append(item.Owners, state)
		if state == plan.Waiting && waiting < 0 {
			waiting = i
		}
	}
	if waiting < 0 {
		return e.asked(ctx, id)
	}
	if f, never := e.collector.neverCollected(id); never {
		return core.Found(e.Graph.Ref(id), f)
	}
	verdict := plan.Decide(item, plan.Upstream)
	if refused := e.refusal.Rejected(ctx, id); len(refused) > 0 {
		return core.Found(e.Graph.Ref(id), refused...)
	}
	todo := "the garbage collector has not deleted it"
	if verdict.Do == plan.RemoveOwnerRefs {
		todo = "the garbage collector has not removed its reference to the owner that waits for it"
	}
	evidence := append(core.Observed(todo), e.refusal.UntriedDeletion(ctx, id)...)
	findings := e.collector.collectors(ctx, id, refs[waiting].Owner, core.Finding{Evidence: evidence})
	if verdict.Do == plan.RemoveOwnerRefs {
		return findings
	}
	return append(findings, e.upcomingBelow(ctx, id, map[graph.ID]bool{})...)
}
