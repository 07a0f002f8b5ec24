package rescue

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// Printed is the plan as it is printed, and as its archive has it.
func (p *Planned) Printed() *v1alpha1.Plan {
	finalizers := p.Finalizers
	if finalizers == nil {
		finalizers = &unfinalize.Planned{}
	}
	out := finalizers.Printed()
	object := p.Ref
	out.Roots, out.Deleted, out.Actions = []v1alpha1.ObjectRef{object}, []v1alpha1.ObjectRef{}, []v1alpha1.Action{}
	out.Gaps = append(out.Gaps, p.Gaps...)
	out.Complete = len(out.Gaps) == 0
	for _, a := range p.Actions() {
		out.Actions = append(out.Actions, printed(a))
	}
	for _, d := range p.Dependents {
		for _, r := range d.References {
			out.References = append(out.References,
				v1alpha1.Reference{Object: d.Ref, OwnerReference: r.OwnerReference, Index: r.Index})
		}
	}
	out.Deleted = append(out.Deleted, p.Lost...)
	if len(p.Refusals) > 0 {
		out.Verdicts = append(out.Verdicts, v1alpha1.FinalizerVerdict{Object: object, Verdict: "Refused",
			Refusals: p.Overrides.Printed(p.Refusals)})
		for _, r := range p.Refusals {
			if r.Code == unfinalize.Forbidden {
				out.Forbidden = append(out.Forbidden, v1alpha1.Forbidden{Object: object, Reason: r.Because})
			}
		}
	}
	return out
}

// because says why a rescue does something.
var because = map[plan.Verb]string{
	plan.VerbOrphan:            "the owner is freed, and the collector must not delete it",
	plan.VerbRemoveFinalizer:   "it is freed",
	plan.VerbDelete:            "it is freed",
	plan.VerbFinalizeNamespace: "it is freed",
	VerbCreate:                 "it is created again as it was",
	VerbUpdateStatus:           "it had the status before",
	VerbRebind:                 "it is bound to the claim by its uid",
	VerbAdopt:                  "it had the references before",
}

// printed is one write as it is printed.
func printed(a Action) v1alpha1.Action {
	out := v1alpha1.Action{
		Verb: string(a.Verb), Object: a.Object, Policy: string(a.Policy), Finalizers: a.Finalizers, Wave: 1,
		By:      string(plan.ByClient),
		Because: because[a.Verb], Reason: "Rescue",
	}
	if a.Cause.UID != "" {
		out.Owners = []string{a.Cause.UID}
	}
	return out
}
