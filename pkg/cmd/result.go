package cmd

import (
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// resultObject returns what came of a plan as the versioned object that -o json prints.
func resultObject(p *plannedDeletion, r *act.Result, events []collect.Event) *v1alpha1.Result {
	words := wording{p.Known, time.Now()}
	out := &v1alpha1.Result{
		TypeMeta: v1alpha1.TypeMeta("Result"), Complete: len(p.Gaps) == 0, Gaps: append([]v1alpha1.Gap{}, p.gaps...),
		Done: []v1alpha1.Action{}, Failed: []v1alpha1.FailedAction{}, Skipped: []v1alpha1.SkippedObject{},
		Orphaned: []v1alpha1.SkippedObject{}, Remaining: []v1alpha1.SkippedObject{},
	}
	out.Disks = p.Disks
	for _, d := range r.Done {
		out.Done = append(out.Done, render.ActionObject(d.Graph, d.Action))
	}
	for _, f := range r.Failed {
		out.Failed = append(out.Failed, v1alpha1.FailedAction{Action: render.ActionObject(f.Graph, f.Action), Error: f.Err.Error()})
	}
	addEvents(out, events)
	for _, s := range r.Skipped {
		out.Skipped = append(out.Skipped, v1alpha1.SkippedObject{Object: render.RefObject(s.Graph.Ref(s.Action.Object)), Because: s.Err.Error()})
	}
	for _, o := range r.Orphaned {
		out.Orphaned = append(out.Orphaned, v1alpha1.SkippedObject{Object: render.RefObject(o.Object), Because: foundAs(o)})
	}
	for _, l := range r.Left {
		out.Remaining = append(out.Remaining, v1alpha1.SkippedObject{Object: render.RefObject(l.Object), Because: words.waitsFor(l)})
	}
	for _, u := range r.Unseen {
		out.Remaining = append(out.Remaining, v1alpha1.SkippedObject{Object: render.RefObject(u.Object), Because: "not known whether it is gone: " + u.Err.Error()})
	}
	for _, ref := range r.Unplanned {
		out.Unplanned = append(out.Unplanned, render.RefObject(ref))
	}
	return out
}

// foundAs says how an orphan was found.
func foundAs(o act.Orphan) string {
	switch {
	case o.Err != nil:
		return o.Err.Error()
	case o.Adopter != nil:
		return "adopted by " + adopter(o)
	}
	return fmt.Sprintf("alive, without a reference to %s", shortName(o.Owner))
}

func adopter(o act.Orphan) string {
	return render.Escape(o.Adopter.Kind) + "/" + render.Escape(o.Adopter.Name)
}
