package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// show prints the plan in the format that was asked for.
func (f *runFlags) show(p *plannedRun) error {
	switch f.output.format() {
	case "", "wide":
		if len(p.Actions) == 0 {
			fmt.Fprintln(f.Out, p.nothing())
		} else if err := render.PlanTable(f.Out, p.Plan, f.style(f.output.format() == "wide")); err != nil {
			return err
		}
		f.follows(p)
		f.leftovers(p.Graph, p.left)
		return nil
	case "name":
		return showNames(f.Out, p.Graph, p.Deleted)
	}
	return f.output.write(f.Out, render.PlanObject(p.Plan, p.gaps))
}

// follows says on stderr what is deleted besides after others have removed their finalizers: who agrees to the plan agrees to that.
func (f *runFlags) follows(p *plannedRun) {
	if ids := p.Follows(); len(ids) > 0 {
		fmt.Fprintf(f.ErrOut, "deletes %s more if others remove their finalizers meanwhile: %s\n", countWords(len(ids), "object"), enumerate(names(p.Graph, ids)))
	}
}

// refused words why the loop would not do what was planned; nil if it would.
func (f *runFlags) refused(err error) error {
	var most *collect.MaxDeletesError
	var mass *collect.MassError
	switch {
	case errors.As(err, &most) && most.Done > 0:
		return refusal{fmt.Errorf("stopped after %s: the plan has %d more, and --max-deletes allows %d", countWords(most.Done, "delete"), most.Planned, most.Max)}
	case errors.As(err, &most):
		return refusal{withHint(fmt.Errorf("nothing was deleted: the plan has %d deletes, and --max-deletes allows %d", most.Planned, most.Max), "-n, --types and -l restrict what may be deleted")}
	case errors.As(err, &mass):
		return refusal{withHint(errors.New("nothing was deleted: "+massesWords(mass.Masses)),
			"after a backup was restored, its references name objects that are no more, and collecting would delete what was restored; if this is right, add --allow-mass-collection")}
	}
	return err
}

func massesWords(masses []plan.Mass) string {
	var kinds []string
	for _, m := range masses {
		kinds = append(kinds, massWords(m))
	}
	return strings.Join(kinds, "; ")
}

// massWords is one line about a kind of owner that is gone all at once.
func massWords(m plan.Mass) string {
	kind := m.Kind
	if m.Group != "" {
		kind += "." + m.Group
	}
	all := fmt.Sprintf("all %d owners of kind %s are gone at once", m.Gone+m.Replaced, render.Escape(kind))
	if m.Alive > 0 {
		all = fmt.Sprintf("%d of %d owners of kind %s are gone at once", m.Gone+m.Replaced, m.Gone+m.Replaced+m.Alive, render.Escape(kind))
	}
	if m.Replaced > 0 {
		all += fmt.Sprintf(", and %d of their names are other objects' now", m.Replaced)
	}
	return all
}

// agree asks about a plan that has grown since it was agreed to. Who watches with --yes is the collector: what comes up is what it is for.
func (f *runFlags) agree(ctx context.Context, p *collect.Proposal) error {
	more := grownWords(p)
	switch {
	case f.yes && f.watch:
		return nil
	case f.yes || !f.hasTerminal():
		return refusal{withHint(fmt.Errorf("stopped before pass %d: the plan has grown since it was agreed to: %s", p.Pass, more), "run the command again for a new plan")}
	}
	fmt.Fprintf(f.ErrOut, "Warning: the plan has grown since you agreed to it: %s\n", more)
	if err := f.show(newPlannedRun(p, nil)); err != nil {
		return err
	}
	err := f.ask(ctx)
	if errors.Is(err, errCancelled) {
		return refusal{fmt.Errorf("stopped before pass %d: the new plan was not agreed to", p.Pass)}
	}
	return err
}

// grownWords says what a plan does that was not agreed to.
func grownWords(p *collect.Proposal) string {
	var parts []string
	if ids := p.Growth.Deleted; len(ids) > 0 {
		parts = append(parts, fmt.Sprintf("it deletes %s more: %s", countWords(len(ids), "object"), enumerate(names(p.Graph, ids))))
	}
	if ids := p.Growth.Written; len(ids) > 0 {
		parts = append(parts, fmt.Sprintf("it removes owner references or finalizers of %s more: %s", countWords(len(ids), "object"), enumerate(names(p.Graph, ids))))
	}
	return strings.Join(parts, "; ")
}

// confirm shows the plan and asks, unless it is refused. Nothing was written if it returns an error.
func (f *runFlags) confirm(ctx context.Context, p *plannedRun, refused error) error {
	if err := refused; err != nil {
		if f.output.isOwn() && f.output.format() != "name" {
			err = errors.Join(f.show(p), err)
		}
		return err
	}
	if f.yes {
		return nil
	}
	if !f.hasTerminal() {
		var err error
		if f.output.isOwn() && f.output.format() != "name" {
			err = f.show(p)
		}
		return errors.Join(err, refusal{withHint(errors.New("nothing was deleted: there is no terminal to ask on"), "add --yes to do what the plan says, or --dry-run to see it only")})
	}
	if err := f.show(p); err != nil {
		return err
	}
	return f.ask(ctx)
}

// perform runs the loop to its end, and goes on if others are waited for or changes are watched.
func (f *runFlags) perform(ctx context.Context, client *cluster.Client, loop *collect.Loop, out *runTeller, r *runRequest) error {
	var summary *collect.Summary
	var err error
	switch {
	case f.watch:
		summary, err = loop.Watch(ctx, nil)
	case f.wait:
		waiting, cancel := context.WithTimeout(ctx, r.timeout)
		defer cancel()
		summary, err = loop.Watch(waiting, func(s *collect.Summary) bool { return len(pending(s.Left)) == 0 })
	default:
		summary, err = loop.Run(ctx)
	}
	if summary != nil && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		f.explainPending(ctx, client, summary)
	}
	return f.finish(ctx, summary, err, out, r)
}

// explainPending says why what others have to release is still there.
func (f *runFlags) explainPending(ctx context.Context, client *cluster.Client, s *collect.Summary) {
	catalog, err := client.Discover()
	if err != nil {
		return // the loop has told
	}
	f.explainLeft(ctx, client, catalog, waitedForOthers(s.Graph, pending(s.Left)))
}

// finish prints what came of it.
func (f *runFlags) finish(ctx context.Context, s *collect.Summary, err error, out *runTeller, r *runRequest) error {
	errs := out.errors()
	if s != nil {
		if !f.output.isOwn() {
			if err := f.output.write(f.Out, f.result(out.events, s.Graph, s.Left, slices.Concat(s.Gaps, s.Unread))); err != nil {
				return err
			}
		} else if f.output.format() != "name" {
			fmt.Fprintln(f.Out, out.summary())
			f.leftovers(s.Graph, s.Left)
		}
		errs = append(errs, incomplete(s.Gaps, s.Unread))
	}
	switch {
	case err == nil:
	case ctx.Err() != nil && f.watch:
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		errs = append(errs, refusal{fmt.Errorf("timed out after %s; there are still objects that others have to release", r.timeout)})
	case errors.Is(err, collect.ErrMaxDeletes) && !errors.As(err, new(*collect.MaxDeletesError)):
		errs = append(errs, refusal{fmt.Errorf("stopped after %d deletes, which is what --max-deletes allows", f.maxDeletes)})
	default:
		errs = append(errs, f.refused(err))
	}
	return errors.Join(errs...)
}

// pending are the objects that are being deleted and that somebody else has to let go.
func pending(left []plan.Survivor) []plan.Survivor {
	var list []plan.Survivor
	for _, l := range left {
		if l.Because.Code == plan.FinalizersHold || l.Because.Code == plan.DependentsBlock {
			list = append(list, l)
		}
	}
	return list
}
