package encode

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Run is what came of a run as the Result that -o json prints. What is known of finalizers may be
// nothing.
func Run(o *collect.Outcome, known *finalizer.Registry) *v1alpha1.Result {
	gaps := o.AllGaps()
	out := &v1alpha1.Result{
		TypeMeta: v1alpha1.TypeMeta("Result"), Complete: len(gaps) == 0, Gaps: append([]v1alpha1.Gap{}, gaps...),
		Done: []v1alpha1.Action{}, Failed: []v1alpha1.FailedAction{}, Skipped: []v1alpha1.SkippedObject{},
		Remaining: []v1alpha1.SkippedObject{},
	}
	AddEvents(out, o.Tally.Events)
	for _, l := range o.NotDeleted {
		left := v1alpha1.SkippedObject{Object: Ref(o.Graph.Ref(l.Object)), Because: render.LeftBecause(o.Graph, l, known)}
		if l.Because.Code == plan.OwnerUnresolved {
			out.Skipped = append(out.Skipped, left)
		} else {
			out.Remaining = append(out.Remaining, left)
		}
	}
	return out
}
