package encode

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// UnfinalizeResult is what came of a plan as it is printed. The outcomes are of the objects that
// the plan does not refuse.
func UnfinalizeResult(p *unfinalize.Planned, outcomes []*unfinalize.Outcome,
	known *finalizer.Registry) *v1alpha1.Result {
	gaps := p.AllGaps()
	out := &v1alpha1.Result{
		TypeMeta: v1alpha1.TypeMeta("Result"), Complete: len(gaps) == 0, Gaps: append([]v1alpha1.Gap{}, gaps...),
		Done: []v1alpha1.Action{}, Failed: []v1alpha1.FailedAction{}, Skipped: []v1alpha1.SkippedObject{},
		Orphaned:  []v1alpha1.SkippedObject{},
		Remaining: []v1alpha1.SkippedObject{},
	}
	for _, refused := range p.Refused() {
		for _, r := range refused.Assessment.Against(p.Overrides) {
			because := strings.TrimPrefix(refused.Assessment.Name+": "+r.Because, ": ")
			out.Skipped = append(out.Skipped, v1alpha1.SkippedObject{Object: Ref(refused.Candidate.Ref), Because: because})
		}
	}
	for _, o := range outcomes {
		object := Ref(o.Candidate.Ref)
		for _, d := range o.Done {
			out.Done = append(out.Done, unfinalizeAction(d))
			if d.Verb == plan.VerbFinalizeNamespace {
				out.Stranded = append(out.Stranded, stranded(o.Candidate)...)
			}
		}
		if len(o.Done) > 0 {
			follows, disks := aftermath(o.Candidate)
			out.Follows, out.Disks = append(out.Follows, follows...), append(out.Disks, disks...)
		}
		if o.Err != nil {
			if o.Failed != nil {
				out.Failed = append(out.Failed, v1alpha1.FailedAction{Action: unfinalizeAction(*o.Failed), Error: o.Err.Error()})
			} else {
				out.Skipped = append(out.Skipped, v1alpha1.SkippedObject{Object: object, Because: o.Err.Error()})
			}
		}
		if len(o.Done) == 0 || o.Gone {
			continue
		}
		out.Remaining = append(out.Remaining,
			v1alpha1.SkippedObject{Object: object, Because: render.UnfinalizeLeft(o, known)})
	}
	return out
}

// unfinalizeAction is one write as it is printed.
func unfinalizeAction(d unfinalize.Action) v1alpha1.Action {
	because := plan.Requested
	if d.Verb == plan.VerbOrphan {
		because = plan.OwnerOrphans
	}
	return v1alpha1.Action{
		Verb: string(d.Verb), Object: Ref(d.Object), Policy: string(d.Policy), Owners: d.Owners, Finalizers: d.Finalizers,
		Wave: 1,
		By:   string(plan.ByClient), Because: render.Sentence(because, d.Cause), Reason: string(because), Outside: d.Outside,
	}
}
