package cmd

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// resultObject returns what came of a plan as the versioned object that -o json prints.
func resultObject(p render.Plan, r *act.Result, gaps []v1alpha1.Gap) *v1alpha1.Result {
	out := &v1alpha1.Result{
		TypeMeta: v1alpha1.TypeMeta("Result"), Complete: len(p.Gaps) == 0, Gaps: append([]v1alpha1.Gap{}, gaps...),
		Done: []v1alpha1.Action{}, Failed: []v1alpha1.FailedAction{}, Skipped: []v1alpha1.SkippedObject{}, Remaining: []v1alpha1.SkippedObject{},
	}
	for _, a := range r.Done {
		out.Done = append(out.Done, p.ActionObject(a))
	}
	for _, f := range r.Failed {
		out.Failed = append(out.Failed, v1alpha1.FailedAction{Action: p.ActionObject(f.Action), Error: f.Err.Error()})
	}
	for _, s := range r.Skipped {
		out.Skipped = append(out.Skipped, v1alpha1.SkippedObject{Object: render.RefObject(p.Graph.Ref(s.Action.Object)), Because: s.Err.Error()})
	}
	for _, l := range r.Left {
		out.Remaining = append(out.Remaining, v1alpha1.SkippedObject{Object: render.RefObject(l.Object), Because: waitsFor(l, p.Known)})
	}
	return out
}
