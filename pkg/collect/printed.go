package collect

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Printed is what came of a run as the Result that -o json prints. Because says why an object is
// left.
func (o *Outcome) Printed(because func(plan.ObjectReason) string) *v1alpha1.Result {
	out := v1alpha1.NewResult(o.AllGaps())
	Add(out, o.Tally.Events)
	for _, l := range o.NotDeleted {
		left := v1alpha1.SkippedObject{Object: o.Graph.Ref(l.Object), Because: because(l)}
		if l.Because.Code == plan.OwnerUnresolved {
			out.Skipped = append(out.Skipped, left)
		} else {
			out.Remaining = append(out.Remaining, left)
		}
	}
	return out
}

// Add adds what the loop did to a Result.
func Add(out *v1alpha1.Result, events []Event) {
	for _, e := range events {
		out.Add(e.Action.Printed(), e.Err)
	}
}

// Printed is one write of the loop as it is printed. The loop does the collector's part.
func (a Action) Printed() v1alpha1.Action {
	return v1alpha1.Action{
		Verb: string(a.Verb), Object: a.Object, Policy: string(a.Policy), Owners: slices.Clone(a.Owners), Wave: a.Pass,
		By: string(plan.ByCollector), Because: a.Because.Sentence(a.Cause), Reason: string(a.Because),
	}
}
