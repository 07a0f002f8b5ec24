package encode

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/rescue"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// RescuePlan is what would be done to rescue an object as it is printed, and as its archive has it.
func RescuePlan(p *rescue.Planned) *v1alpha1.Plan {
	finalizers := p.Finalizers
	if finalizers == nil {
		finalizers = &unfinalize.Planned{}
	}
	out := UnfinalizePlan(finalizers)
	object := Ref(p.Ref)
	out.Roots, out.Deleted, out.Actions = []v1alpha1.ObjectRef{object}, []v1alpha1.ObjectRef{}, []v1alpha1.Action{}
	out.Gaps = append(out.Gaps, p.Gaps...)
	out.Complete = len(out.Gaps) == 0
	for _, a := range p.Actions() {
		out.Actions = append(out.Actions, rescueAction(a))
	}
	for _, d := range p.Dependents {
		for _, r := range d.References {
			out.References = append(out.References,
				v1alpha1.Reference{Object: Ref(d.Ref), OwnerReference: r.OwnerReference, Index: r.Index})
		}
	}
	for _, lost := range p.Lost {
		out.Deleted = append(out.Deleted, Ref(lost))
	}
	if len(p.Refusals) > 0 {
		verdict := v1alpha1.FinalizerVerdict{Object: object, Verdict: "Refused"}
		for _, r := range p.Refusals {
			verdict.Refusals = append(verdict.Refusals, v1alpha1.Refusal{
				Reason: string(r.Code), Because: r.Because, Override: string(r.Override), Overridden: p.Overrides.Covers(r),
				Hint: r.Hint,
			})
			if r.Code == unfinalize.Forbidden {
				out.Forbidden = append(out.Forbidden, v1alpha1.Forbidden{Object: object, Reason: r.Because})
			}
		}
		out.Verdicts = append(out.Verdicts, verdict)
	}
	return out
}

// RescueResult is what came of a rescue as it is printed.
func RescueResult(o *rescue.Outcome) *v1alpha1.Result {
	out := &v1alpha1.Result{
		TypeMeta: v1alpha1.TypeMeta("Result"), Complete: len(o.Planned.Gaps) == 0,
		Gaps: append([]v1alpha1.Gap{}, o.Planned.Gaps...),
		Done: []v1alpha1.Action{}, Failed: []v1alpha1.FailedAction{}, Skipped: skippedObjects(o.Skipped),
		Orphaned:  []v1alpha1.SkippedObject{},
		Remaining: skippedObjects(o.Remaining),
	}
	for _, a := range o.Done {
		out.Done = append(out.Done, rescueAction(a))
	}
	for _, f := range o.Failed {
		out.Failed = append(out.Failed, v1alpha1.FailedAction{Action: rescueAction(f.Action), Error: f.Err.Error()})
	}
	return out
}

func skippedObjects(all []rescue.Skipped) []v1alpha1.SkippedObject {
	out := []v1alpha1.SkippedObject{}
	for _, s := range all {
		out = append(out, v1alpha1.SkippedObject{Object: Ref(s.Object), Because: s.Because})
	}
	return out
}

// rescueBecause says why a rescue does something.
var rescueBecause = map[plan.Verb]string{
	plan.VerbOrphan:            "the owner is freed, and the collector must not delete it",
	plan.VerbRemoveFinalizer:   "it is freed",
	plan.VerbDelete:            "it is freed",
	plan.VerbFinalizeNamespace: "it is freed",
	rescue.VerbCreate:          "it is created again as it was",
	rescue.VerbUpdateStatus:    "it had the status before",
	rescue.VerbRebind:          "it is bound to the claim by its uid",
	rescue.VerbAdopt:           "it had the references before",
}

// rescueAction is one write as it is printed.
func rescueAction(a rescue.Action) v1alpha1.Action {
	out := v1alpha1.Action{
		Verb: string(a.Verb), Object: Ref(a.Object), Policy: string(a.Policy), Finalizers: a.Finalizers, Wave: 1,
		By:      string(plan.ByClient),
		Because: rescueBecause[a.Verb], Reason: "Rescue",
	}
	if a.Owner.UID != "" {
		out.Owners = []string{a.Owner.UID}
	}
	return out
}
