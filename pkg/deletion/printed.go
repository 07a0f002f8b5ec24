package deletion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Printed returns what came of a deletion, or of the wait for one, as the versioned object that -o
// json prints. Waits says what an object that is left waits for.
func (r *Result) Printed(waits func(act.Blocked) string) *v1alpha1.Result {
	p := r.Planned
	out := v1alpha1.NewResult(slices.Concat(p.Gaps, r.Unread))
	out.Complete = len(p.Hiding)+len(r.Unread)+len(r.Unchecked) == 0 && p.LinksComplete()
	out.Remaining, out.Disks = r.remaining(waits), p.Disks
	for _, u := range r.Unchecked {
		out.Gaps = append(out.Gaps, u.Gap)
	}
	for _, d := range r.Done {
		out.Done = append(out.Done, d.Action.Printed(d.Graph))
	}
	for _, f := range r.Failed {
		out.Failed = append(out.Failed, v1alpha1.FailedAction{Action: f.Action.Printed(f.Graph), Error: f.Err.Error()})
	}
	collect.Add(out, r.Collected)
	for _, s := range r.Skipped {
		out.Skipped = append(out.Skipped, skipped(s.Graph.Ref(s.Action.Object), s.Err.Error()))
	}
	for _, ref := range r.LeftAlone {
		out.Skipped = append(out.Skipped, skipped(ref, leftAlone(r.Archived)))
	}
	for _, o := range r.Orphaned {
		out.Orphaned = append(out.Orphaned, skipped(o.Object, foundAs(o)))
	}
	out.Unplanned = append(out.Unplanned, r.Unplanned...)
	for _, a := range p.Absent {
		out.Skipped = append(out.Skipped, skipped(a.Object, "it does not exist"))
	}
	out.Deleted = append(out.Deleted, r.Gone...)
	return out
}

// remaining are the objects that are still there, or may be.
func (r *Result) remaining(waits func(act.Blocked) string) []v1alpha1.SkippedObject {
	all := []v1alpha1.SkippedObject{}
	for _, b := range r.Blocked {
		all = append(all, skipped(b.Object, waits(b)))
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
		all = append(all, skipped(d.Graph.Ref(d.Object), d.Because.Sentence(d.Graph, d.Object)))
	}
	return all
}

// keptBecause says why an object stays that was to be deleted.
func keptBecause(k act.KeptObject) string {
	if k.By.UID == "" {
		return "kept: what was to take it along was kept"
	}
	if k.Within > 0 {
		return fmt.Sprintf("not deleted yet, %s after %s was gone", duration.HumanDuration(k.Within), phrase.Escape(k.By.KindName()))
	}
	return fmt.Sprintf("kept: %s, which was to delete it, is gone", phrase.Escape(k.By.KindName()))
}

func unseen(u act.Unseen) v1alpha1.SkippedObject {
	return skipped(u.Object, "unknown whether it is deleted: "+u.Err.Error())
}

func skipped(r graph.Ref, because string) v1alpha1.SkippedObject {
	return v1alpha1.SkippedObject{Object: r, Because: because}
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
		return "adopted by " + phrase.Escape(o.Adopter.Kind+"/"+o.Adopter.Name)
	}
	return fmt.Sprintf("alive, without a reference to %s", phrase.Escape(o.Owner.KindName()))
}

// Result is what came of performing a plan.
type Result struct {
	*act.Result
	// Planned is the last plan that was agreed to.
	Planned *Planned
	// Archived says that an archive was written.
	Archived bool
	// Collected are the writes of ClientGC, and Unread what it could not read.
	Collected []plan.Event
	Unread    []v1alpha1.Gap
	// LeftAlone are the dependents that ClientGC did not write to because no plan has them.
	LeftAlone []graph.Ref
	// Deadlocked are the objects that will never be gone, and Unchecked those of which that was
	// planned and could not be checked.
	Deadlocked []Deadlocked
	Unchecked  []Unchecked
	// Gone are, of a Wait, the objects that are deleted, in the order in which that was seen.
	Gone []graph.Ref
	// TimedOut says that the wait ended at its timeout.
	TimedOut bool
}

// failures are the errors of single objects. Those that are without an answer only because of an
// interruption are still under way, and those that were declined share an error.
func failures(result *act.Result) []error {
	var errs []error
	for _, failed := range result.Failed {
		declined := result.Declined != nil && errors.Is(failed.Err, act.ErrChanged)
		if !declined && !errors.Is(failed.Err, act.ErrInterrupted) {
			errs = append(errs, failed.Err)
		}
	}
	for _, o := range result.Orphaned {
		if o.Err != nil {
			errs = append(errs, o.Err)
		}
	}
	return append(errs, result.Declined)
}

// keptError is the finding that programs have left alone what they were to delete; nil if none has.
// It names the objects by what they were to go with.
func keptError(kept []act.KeptObject) error {
	objects, within := map[string][]graph.Ref{}, map[string]time.Duration{}
	var deleters []graph.Ref
	for _, k := range kept {
		if k.By.UID == "" {
			continue // the error is about what keeps it
		}
		if objects[k.By.UID] == nil {
			deleters = append(deleters, k.By)
		}
		objects[k.By.UID] = append(objects[k.By.UID], k.Object)
		within[k.By.UID] = max(within[k.By.UID], k.Within)
	}
	var errs []error
	for _, by := range deleters {
		of := objects[by.UID]
		were, them := "was", "it"
		if len(of) > 1 {
			were, them = "were", "them"
		}
		if after := within[by.UID]; after > 0 {
			errs = append(errs, answer.Refuse(fmt.Errorf("%s %s not deleted within %s after %s was gone: see whether the "+
				"program that deletes %s runs", firstFew(of), were, duration.HumanDuration(after), firstFew([]graph.Ref{by}), them)))
			continue
		}
		errs = append(errs, answer.Refuse(fmt.Errorf("%s %s kept: %s, which was to delete %s, is gone", firstFew(of), were,
			firstFew([]graph.Ref{by}), them)))
	}
	return errors.Join(errs...)
}

// ended is the error for what ended the deletion early; nil if nothing did.
func ended(ctx context.Context, opts Options, result *act.Result, err error) error {
	left, hint := opts.Words.remaining(result), hintLeft
	if slices.ContainsFunc(result.Blocked, func(b act.Blocked) bool { return b.Untold && !b.Deleting }) {
		hint = hintUntold
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.Canceled):
		return answer.WithHint(fmt.Errorf("%w; not deleted yet: %s", context.Cause(ctx), left), hint)
	case ctx.Err() != nil:
		return answer.WithHint(errors.New("interrupted; not deleted yet: "+left), hint)
	case errors.Is(err, act.ErrNotCollected):
		return answer.Refuse(answer.WithHint(fmt.Errorf("timed out after %s; %w", opts.Timeout, err),
			"kubectl gc run removes them"))
	case errors.Is(err, context.DeadlineExceeded):
		return answer.Refuse(fmt.Errorf("timed out after %s; not deleted yet: %s", opts.Timeout, left))
	case errors.Is(err, errWaitsForOthers):
		return answer.Refuse(fmt.Errorf("%w; not deleted yet: %s", err, left))
	}
	return err
}

// hintLeft is what to do about a cascade that was not waited for to its end.
const hintLeft = "the cascade continues in the cluster; kubectl gc wait with the same objects waits for it"

// hintUntold is hintLeft where a wait that begins later would not know what is to wait for.
const hintUntold = "the cascade continues in the cluster; kubectl get shows whether they are gone"

// remaining says what is left of a deletion.
func (w Words) remaining(result *act.Result) string {
	left := "nothing"
	switch {
	case len(result.Blocked) == 0:
	case w.Remaining != nil:
		left = w.Remaining(result.Blocked)
	default:
		left = fewOf(result.Blocked, func(b act.Blocked) graph.Ref { return b.Object })
	}
	unsent := 0
	for _, s := range result.Skipped {
		if errors.Is(s.Err, act.ErrNotSent) {
			unsent++
		}
	}
	if unsent > 0 {
		left += fmt.Sprintf("; the delete was not sent for %d of the named objects", unsent)
	}
	return left
}
