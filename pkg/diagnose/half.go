package diagnose

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// half returns that nothing holds an object: whoever took the last finalizer off did it before the deletion, or the server stopped in between. Any further
// DELETE ends it (API-020, RO-063).
func (e *examiner) half(ctx context.Context, id graph.ID) []finding {
	ref := e.Graph.Ref(id)
	o, err := e.object(ctx, id)
	if err != nil || o == nil || string(o.GetUID()) != ref.UID || len(o.GetFinalizers()) > 0 {
		return nil
	}
	rejected := found(ref, e.refusal.rejected(ctx, id)...)
	f := finding{
		code: HalfDeleted, evidence: observed("it has a deletionTimestamp, no finalizers and no grace period left"),
		commands: []step{command("kubectl", "delete", "OBJECT").doing("has the server complete the deletion")},
	}
	if len(rejected) > 0 { // which comes first
		f.after = 1
	}
	return append(rejected, found(ref, f)...)
}

// asked is for an object that was asked about by name and is not being deleted: whether it could be.
func (e *examiner) asked(ctx context.Context, id graph.ID) []finding {
	ref := e.Graph.Ref(id)
	if refused := e.refusal.rejected(ctx, id); len(refused) > 0 {
		for i := range refused {
			if refused[i].at != (graph.Ref{}) {
				continue // it was found at what the object is kept for
			}
			refused[i].evidence = append(observed("it is not being deleted: a DELETE is rejected"), refused[i].evidence...)
		}
		return found(ref, refused...)
	}
	f := finding{code: NotDeleting, evidence: observed("it has no deletionTimestamp")}
	t, _ := e.Graph.Type(id)
	switch {
	case e.refusal.untriedDeletion(id) != nil:
		f.evidence = append(f.evidence, e.refusal.untriedDeletion(id)...)
	case e.reviews.Ask(ctx, []cluster.Access{{Verb: "delete", Type: t, Namespace: ref.Namespace, Name: ref.Name}})[0].Permission == cluster.Denied:
		f.evidence = append(f.evidence, observed("you may not delete it")...)
	default:
		f.evidence = append(f.evidence, observed("the server would accept a DELETE")...)
	}
	return found(ref, f)
}

// alive returns why an object that is not being deleted is still there although an owner waits for it.
func (e *examiner) alive(ctx context.Context, id graph.ID) []finding {
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
		return found(e.Graph.Ref(id), f)
	}
	verdict := plan.Decide(item, plan.Upstream)
	if refused := e.refusal.rejected(ctx, id); len(refused) > 0 {
		return found(e.Graph.Ref(id), refused...)
	}
	todo := "the garbage collector has not deleted it"
	if verdict.Do == plan.RemoveOwnerRefs {
		todo = "the garbage collector has not removed its reference to the owner that waits for it"
	}
	evidence := append(observed(todo), e.refusal.untriedDeletion(id)...)
	findings := e.collector.collectors(ctx, id, refs[waiting].Owner, finding{evidence: evidence})
	if verdict.Do == plan.RemoveOwnerRefs {
		return findings
	}
	return append(findings, e.upcomingBelow(ctx, id, map[graph.ID]bool{})...)
}
