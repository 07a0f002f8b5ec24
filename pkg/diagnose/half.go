package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// half returns that nothing holds an object: whoever took the last finalizer off did it before the
// deletion, or the server stopped in between. Any further DELETE ends it (API-020, RO-063).
func (e *examiner) half(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	o := e.Own(ctx, id)
	if o == nil || len(e.Graph.Finalizers(id))+len(o.GetFinalizers()) > 0 {
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

// rejected is for an object that is not being deleted, and that the server would let nobody delete.
func (e *examiner) rejected(ctx context.Context, id graph.ID) []core.Finding {
	awaited := e.awaited(id)
	var says []v1alpha1.Observation
	if o := e.Own(ctx, id); o != nil {
		says = e.Says(ctx, o)
	}
	return core.Found(e.Graph.Ref(id), core.Each(e.refusal.Rejected(ctx, id), func(f *core.Finding) {
		if !awaited && f.At == (graph.Ref{}) { // or it was found at what the object is kept for
			f.Evidence = slices.Concat(core.Observed("it is not being deleted: a DELETE is rejected"), f.Evidence, says)
		}
	})...)
}

// pod returns what keeps a pod. Of a pod whose node does not exist the API is told to forget it, by
// kube-controller-manager or by hand: a webhook that does not answer keeps both from it.
func (e *examiner) pod(ctx context.Context, id graph.ID) []core.Finding {
	all := e.workloads.Pod(ctx, id)
	if !slices.ContainsFunc(all, func(f core.Finding) bool { return f.Code == core.NodeGone }) {
		return all
	}
	down := slices.DeleteFunc(e.refusal.Rejected(ctx, id),
		func(f core.Finding) bool { return f.Code != core.AdmissionWebhookDown })
	if len(down) == 0 {
		return all
	}
	return append(core.Found(e.Graph.Ref(id), down...), core.Each(all, func(f *core.Finding) { f.After++ })...)
}

// notDeleting is for an object that was asked about by name and is not being deleted: whether it
// could be.
func (e *examiner) notDeleting(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	f := core.Finding{Code: core.NotDeleting, Evidence: core.Observed("it has no deletionTimestamp")}
	if do, refs, states := e.collector.decide(id); do == plan.Delete && states[0] == plan.Absent {
		f.Observe("its owner, %s %s, does not exist, and the garbage collector has not deleted it yet",
			refs[0].Kind, refs[0].Name)
	}
	if o := e.Own(ctx, id); o != nil {
		for i, w := range e.Warnings(ctx, o) {
			if !status.SaysDeletion(w.Reason, w.Message) {
				continue
			}
			f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(w.Event, ""), e.QuotedWarning(i, w))...)
			if f.Sentence == "" {
				f.Sentence = fmt.Sprintf("nobody has deleted the object, and warning %s of it says: %s", w.Reason,
					core.Brief(w.Message))
				by, _, _ := strings.Cut(w.Recorder(), "_") // NAME_POD_ID of a provisioner
				f.Remedy = phrase.Sentence("see to what the warning says: " + cmp.Or(by, "whoever recorded it") +
					" deletes something for the object, and may delete it after that")
			}
		}
		f = e.asked(ctx, f, o)
	}
	t, _ := e.Graph.Type(id)
	untried := e.refusal.UntriedDeletion(ctx, id)
	var large []v1alpha1.Observation
	if o := e.Own(ctx, id); o != nil && len(e.Graph.Finalizers(id)) > 0 { // or else it is deleted without being written
		large = core.Large(o)
	}
	switch {
	case large != nil:
		f.Evidence = append(f.Evidence, large...)
		f.Remedy = "Make it smaller before it is deleted, by what it does not need: the server writes a deletionTimestamp into an " +
			"object that has finalizers."
	case untried != nil:
		f.Evidence = append(f.Evidence, untried...)
	case e.Reviews.Permission(ctx, cluster.AccessTo("delete", "", t, ref)) == cluster.Denied:
		f.Observe("you may not delete it")
	default:
		f.Observe("the server would accept a DELETE")
	}
	return core.Found(ref, f)
}

// asked adds to a finding who has asked for the deletion of an object with an object of its own.
func (e *examiner) asked(ctx context.Context, f core.Finding, o *unstructured.Unstructured) core.Finding {
	by, seen := e.finalizers.Asked(ctx, o)
	if len(by) == 0 {
		return f
	}
	if stage := status.Stage(o); status.SaysDeletion("", stage.Text) {
		f.Evidence = append(f.Evidence, core.ObservedAt(cluster.Place(o, stage.Field),
			fmt.Sprintf("its %s is: %s", stage.Field, stage.Text))...)
	}
	f.Evidence = append(f.Evidence, seen...)
	f.Sentence = fmt.Sprintf("nobody has deleted the object, and %s has asked for its deletion", by[0].Located())
	f.Remedy = "See to what " + by[0].Located() + " says: whoever works on it deletes what the object stands for first, and then the " +
		"object. If nothing of that is left, delete both by hand. One that has failed may not be tried again: ask anew then."
	f.Commands = append(f.Commands, core.At(by[0], core.Describe()).Safely("shows what is said of it"))
	return f
}

// neverCollected is for an object that an owner waits for, and that the collector gives up on.
func (e *examiner) neverCollected(_ context.Context, id graph.ID) []core.Finding {
	if f, never := e.collector.neverCollected(id); never {
		return core.Found(e.Graph.Ref(id), f)
	}
	return nil
}

// uncollected is for an object that the collector has not deleted although an owner waits for it.
func (e *examiner) uncollected(ctx context.Context, id graph.ID) []core.Finding {
	do, refs, states := e.collector.decide(id)
	owner := refs[slices.Index(states, plan.Waiting)].Owner
	todo, removed := "the garbage collector has not deleted it", do == plan.RemoveOwnerRefs
	if removed {
		todo = "the garbage collector has not removed its reference to the owner that waits for it"
	}
	if removed {
		if refused := e.refusal.RefusedToOrphan(ctx, id, owner); len(refused) > 0 {
			return core.Found(e.Graph.Ref(id), refused...)
		}
	}
	evidence := append(core.Observed(todo), e.refusal.UntriedDeletion(ctx, id)...)
	findings := e.collector.collectors(ctx, id, owner, core.Finding{Evidence: evidence})
	if removed {
		return findings
	}
	return append(findings, e.upcomingBelow(ctx, id, map[graph.ID]bool{})...)
}
