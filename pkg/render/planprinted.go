package render

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Printed returns the plan with its sentences as the versioned object that -o json prints. All gaps
// are in it; those of the Plan decide whether it is complete.
func (p Plan) Printed(gaps []v1alpha1.Gap) *v1alpha1.Plan {
	out := p.Plan.Printed(gaps)
	out.Complete, out.Findings = len(p.Gaps) == 0, p.Findings()
	if p.Asked != nil {
		out.Asked = &p.Asked.Asked
	}
	for i, a := range p.Actions {
		out.Actions[i].Because = p.Because(a.Object, a.Because)
	}
	for i, b := range p.Blockers {
		out.Blockers[i].Because = p.WaitsFor(b)
	}
	say := func(survivors []v1alpha1.Survivor, list []plan.ObjectReason) {
		for i, s := range list {
			survivors[i].Because = p.Because(s.Object, s.Because)
		}
	}
	say(out.Survivors, p.Kept)
	say(out.Stuck, p.Deadlocked)
	say(out.Remaining, p.Blocked)
	return out
}
