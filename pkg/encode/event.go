package encode

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// AddEvents adds what the loop did to a Result.
func AddEvents(out *v1alpha1.Result, events []collect.Event) {
	for _, e := range events {
		a := Collected(e.Action)
		if e.Err != nil {
			out.Failed = append(out.Failed, v1alpha1.FailedAction{Action: a, Error: e.Err.Error()})
			continue
		}
		out.Done = append(out.Done, a)
	}
}

// Collected is one write of the loop as it is printed. The loop does the collector's part.
func Collected(a collect.Action) v1alpha1.Action {
	return v1alpha1.Action{
		Verb: string(a.Verb), Object: Ref(a.Object), Policy: string(a.Policy), Owners: slices.Clone(a.Owners), Wave: a.Pass,
		By: string(plan.ByCollector), Because: render.Sentence(a.Because, a.Cause), Reason: string(a.Because),
	}
}
