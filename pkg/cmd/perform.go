package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// perform carries out the plan and waits for the cascade.
func (f *deleteFlags) perform(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, d *deletion, p *plannedDeletion) error {
	if d.grace != nil && *d.grace == 0 {
		fmt.Fprintln(f.ErrOut, "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.")
	}
	t := newTeller(f, p)
	defer t.done()
	again := newReplanner(f, client, catalog, d, p, t)
	limited, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	opts := act.Options{
		GracePeriodSeconds: d.grace, PropagateGracePeriod: f.propagateGrace,
		Archived: p.archived(client), Positions: p.positions, Wait: f.wait, Tell: t.tell, Tick: t.tick, Replan: again.replan, Meant: f.stillMeant(client),
	}
	gc := &clientGC{f: f, client: client, d: d, saved: p.saved, plans: func() []*plannedDeletion { return again.planned }}
	if f.gc == "client" {
		f.warnNamespaces(p)
		opts.Collect, opts.PropagateGracePeriod = gc.collect, false
	}
	result, err := act.Run(limited, client, p.Plan.Plan, opts)
	t.done()
	f.warnAdopted(result)
	f.warnUnseen(result.Unseen)
	f.warnUnplanned(result.Unplanned, p.saved != nil)
	left := gc.leftAlone(ctx)
	var stuck []v1alpha1.SkippedObject
	if f.wait && ctx.Err() == nil {
		stuck = endless(ctx, client, again.planned)
	}
	if !f.output.isOwn() {
		object := resultObject(again.last, result, gc.events)
		object.Remaining = append(object.Remaining, stuck...)
		object.Gaps, object.Complete = append(object.Gaps, gc.unread...), object.Complete && len(gc.unread) == 0
		for _, ref := range left {
			object.Skipped = append(object.Skipped, v1alpha1.SkippedObject{Object: render.RefObject(ref), Because: gc.because()})
		}
		if err := f.output.write(f.Out, object); err != nil {
			return err
		}
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil || errors.Is(err, act.ErrNotCollected) {
		f.explainLeft(ctx, client, catalog, waitedFor(result.Left))
	}
	return errors.Join(slices.Concat(failures(result), gc.errors(), []error{gc.leftAloneError(left), unreadError(gc.unread), endlessError(stuck), f.ended(ctx, d, result, err, wording{p.Known, time.Now()})})...)
}

// failures are the errors of single objects. Those that are without an answer only because of an interruption are still under way, and those
// that were declined share an error.
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

// ended is the error for what ended the run early; nil if nothing did.
func (f *deleteFlags) ended(ctx context.Context, d *deletion, result *act.Result, err error, w wording) error {
	unsent := 0
	for _, s := range result.Skipped {
		if errors.Is(s.Err, act.ErrNotSent) {
			unsent++
		}
	}
	left := w.remaining(result.Left, len(result.Left))
	if left == "" {
		left = "nothing"
	}
	if unsent > 0 {
		left += fmt.Sprintf("; %d of the objects named were not deleted", unsent)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return withHint(errors.New("interrupted; still under way: "+left), hintLeft)
	case errors.Is(err, act.ErrNotCollected):
		return refusal{withHint(fmt.Errorf("timed out after %s; %w", d.timeout, err), "kubectl gc run removes them")}
	case errors.Is(err, context.DeadlineExceeded):
		return refusal{fmt.Errorf("timed out after %s; still there: %s", d.timeout, left)}
	case errors.Is(err, errWaitsForOthers):
		return refusal{fmt.Errorf("%w; still there: %s", err, left)}
	}
	return err
}

// hintLeft is what to do about a cascade that was not waited for to its end.
const hintLeft = "the cascade goes on without this command; kubectl gc tree shows what is left"

// warnAdopted tells of orphans that have a new controller, as they may have if its selector matches.
func (f *deleteFlags) warnAdopted(result *act.Result) {
	for _, o := range result.Orphaned {
		if o.Adopter != nil {
			fmt.Fprintf(f.ErrOut, "Warning: %s, which was left behind, was adopted by %s\n", withNamespace(o.Object, " in "), adopter(o))
		}
	}
}

// warnUnseen tells of what was not waited for to its end, because it may neither be watched, listed nor read. As for kubectl that is no error: the deletion
// was asked for, and goes on.
func (f *deleteFlags) warnUnseen(unseen []act.Unseen) {
	type place struct{ resource, group, namespace string }
	names, first := map[place][]string{}, []act.Unseen{}
	of := func(u act.Unseen) place { return place{u.Object.Resource, u.Object.Group(), u.Object.Namespace} }
	for _, u := range unseen {
		if names[of(u)] == nil {
			first = append(first, u)
		}
		names[of(u)] = append(names[of(u)], shortName(u.Object))
	}
	for _, u := range first {
		fmt.Fprintf(f.ErrOut, "Warning: cannot wait for %s, whose deletion goes on: %s\n", enumerate(names[of(u)]), render.Escape(shorten(u.Err.Error())))
	}
}

// warnUnplanned tells of what the cluster's collector has deleted beyond the plan. Nobody can keep it from doing so.
func (f *deleteFlags) warnUnplanned(unplanned []graph.Ref, archived bool) {
	if len(unplanned) == 0 {
		return
	}
	var names []string
	for _, ref := range unplanned {
		names = append(names, shortName(ref))
	}
	missing := ""
	if archived {
		missing = ", and not in the archive"
	}
	fmt.Fprintf(f.ErrOut, "Warning: deleted too, as dependents of what was deleted, but not in the plan%s: %s\n", missing, enumerate(names))
}
