package encode

import (
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Deletion returns what came of a deletion, or of the wait for one, as the versioned object that -o
// json prints. Now is for the grace periods that are left.
func Deletion(r *deletion.Result, now time.Time) *v1alpha1.Result {
	p := r.Planned
	out := &v1alpha1.Result{
		TypeMeta: v1alpha1.TypeMeta("Result"), Complete: len(p.Hiding)+len(r.Unread)+len(r.Unchecked) == 0 &&
			p.LinksComplete(), Gaps: append(append([]v1alpha1.Gap{}, p.Gaps...), r.Unread...),
		Done: []v1alpha1.Action{}, Failed: []v1alpha1.FailedAction{}, Skipped: []v1alpha1.SkippedObject{},
		Orphaned: []v1alpha1.SkippedObject{}, Remaining: remaining(r, now), Disks: p.Disks,
	}
	for _, u := range r.Unchecked {
		out.Gaps = append(out.Gaps, u.Gap)
	}
	for _, d := range r.Done {
		out.Done = append(out.Done, Action(d.Graph, d.Action))
	}
	for _, f := range r.Failed {
		out.Failed = append(out.Failed, v1alpha1.FailedAction{Action: Action(f.Graph, f.Action), Error: f.Err.Error()})
	}
	AddEvents(out, r.Collected)
	for _, s := range r.Skipped {
		out.Skipped = append(out.Skipped, skipped(s.Graph.Ref(s.Action.Object), s.Err.Error()))
	}
	for _, ref := range r.LeftAlone {
		out.Skipped = append(out.Skipped, skipped(ref, leftAlone(r.Archived)))
	}
	for _, o := range r.Orphaned {
		out.Orphaned = append(out.Orphaned, skipped(o.Object, foundAs(o)))
	}
	for _, ref := range r.Unplanned {
		out.Unplanned = append(out.Unplanned, Ref(ref))
	}
	for _, a := range p.Absent {
		out.Skipped = append(out.Skipped, skipped(a.Object, "it does not exist"))
	}
	for _, ref := range r.Gone {
		out.Deleted = append(out.Deleted, Ref(ref))
	}
	return out
}

// remaining are the objects that are still there, or may be.
func remaining(r *deletion.Result, now time.Time) []v1alpha1.SkippedObject {
	words := render.Waits{Known: r.Planned.Known, Now: now}
	all := []v1alpha1.SkippedObject{}
	for _, b := range r.Blocked {
		all = append(all, skipped(b.Object, words.For(b)))
	}
	for _, k := range r.Kept {
		all = append(all, skipped(k.Object, keptBecause(k)))
	}
	for _, u := range r.Unseen {
		all = append(all, unseen(u))
	}
	for _, u := range r.Unchecked {
		all = append(all, unseen(u.Unseen))
	}
	for _, d := range r.Deadlocked {
		all = append(all, skipped(d.Graph.Ref(d.Object), render.SurvivorSentence(d.Graph, d.ObjectReason)))
	}
	return all
}

// keptBecause says why an object stays that was to be deleted.
func keptBecause(k act.KeptObject) string {
	if k.By.UID == "" {
		return "kept: what was to take it along was kept"
	}
	return fmt.Sprintf("kept: %s, which was to delete it, is gone", render.KindName(k.By))
}

func unseen(u act.Unseen) v1alpha1.SkippedObject {
	return skipped(u.Object, "unknown whether it is deleted: "+u.Err.Error())
}

func skipped(r graph.Ref, because string) v1alpha1.SkippedObject {
	return v1alpha1.SkippedObject{Object: Ref(r), Because: because}
}

// leftAlone says why dependents are left alone.
func leftAlone(archived bool) string {
	if archived {
		return "not deleted: the dependent is not in the plan and the archive"
	}
	return "not deleted: the dependent is not in the plan"
}

// foundAs says how an orphan was found.
func foundAs(o act.Orphan) string {
	switch {
	case o.Err != nil:
		return o.Err.Error()
	case o.Adopter != nil:
		return "adopted by " + render.Adopter(o)
	}
	return fmt.Sprintf("alive, without a reference to %s", render.KindName(o.Owner))
}
