package encode

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Fixes is what kubectl gc check --fix would do as the Plan that -o json prints with --dry-run.
func Fixes(p *check.Fixes) *v1alpha1.Plan {
	out := emptyPlan()
	out.Complete, out.Gaps = p.Report.Complete, append(out.Gaps, p.Report.Gaps...)
	for _, fix := range p.Fixes {
		out.Roots = append(out.Roots, Ref(fix.Object))
		out.Actions = append(out.Actions, fixAction(fix))
	}
	return out
}

// Fixed is what came of it as the Result that -o json prints.
func Fixed(p *check.Fixes, all []*check.Fixed) *v1alpha1.Result {
	out := emptyResult()
	out.Complete, out.Gaps = p.Report.Complete, append(out.Gaps, p.Report.Gaps...)
	for _, l := range p.Left {
		out.Skipped = append(out.Skipped, v1alpha1.SkippedObject{Object: Ref(l.Object), Because: l.Because.Error()})
	}
	for _, f := range all {
		if f.Done {
			out.Done = append(out.Done, fixAction(f.Fix))
		}
		switch {
		case f.Skipped != nil:
			out.Skipped = append(out.Skipped, v1alpha1.SkippedObject{Object: Ref(f.Object), Because: f.Skipped.Error()})
		case f.Err != nil && f.Done:
			out.Remaining = append(out.Remaining, v1alpha1.SkippedObject{Object: Ref(f.Object), Because: f.Err.Error()})
		case f.Err != nil:
			out.Failed = append(out.Failed, v1alpha1.FailedAction{Action: fixAction(f.Fix), Error: f.Err.Error()})
		}
	}
	out.Findings = p.Remaining(all).Findings
	return out
}

func fixAction(fix *check.Fix) v1alpha1.Action {
	return v1alpha1.Action{
		Verb: string(plan.VerbOrphan), Object: Ref(fix.Object), Owners: uids(fix.Removed), Wave: 1, By: string(plan.ByClient),
		Because: strings.Join(fix.Because, "; ") + "; " + render.KeptBy(fix), Reason: string(plan.OwnedByAnother),
	}
}
