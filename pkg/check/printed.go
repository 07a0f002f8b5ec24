package check

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Printed is what kubectl gc check --fix would do as the Plan that -o json prints with --dry-run.
func (p *Fixes) Printed() *v1alpha1.Plan {
	out := v1alpha1.NewPlan(p.Report.Gaps)
	out.Complete = p.Report.Complete
	for _, fix := range p.Fixes {
		out.Roots = append(out.Roots, fix.Object)
		out.Actions = append(out.Actions, fix.printed())
	}
	return out
}

// Result is what came of it as the Result that -o json prints.
func (p *Fixes) Result(all []*Fixed) *v1alpha1.Result {
	out := v1alpha1.NewResult(p.Report.Gaps)
	out.Complete = p.Report.Complete
	for _, l := range p.Left {
		out.Skip(l.Object, l.Because.Error())
	}
	for _, f := range all {
		if f.Done {
			out.Add(f.printed(), nil)
		}
		switch {
		case f.Skipped != nil:
			out.Skip(f.Object, f.Skipped.Error())
		case f.Err != nil && f.Done:
			out.Remaining = append(out.Remaining, v1alpha1.SkippedObject{Object: f.Object, Because: f.Err.Error()})
		case f.Err != nil:
			out.Add(f.printed(), f.Err)
		}
	}
	out.Findings = p.Remaining(all).Findings
	return out
}

func (f *Fix) printed() v1alpha1.Action {
	return v1alpha1.Action{
		Verb: string(plan.VerbOrphan), Object: f.Object, Owners: graph.UIDs(f.Removed), Wave: 1, By: string(plan.ByClient),
		Because: strings.Join(f.Because, "; ") + "; " + f.KeptBy(), Reason: string(plan.OwnedByAnother),
	}
}

// KeptBy says which owner keeps the object, in a clause.
func (f *Fix) KeptBy() string {
	return graph.Located(f.Keeper.Kind, "", f.Keeper.Name) + " owns it too"
}
