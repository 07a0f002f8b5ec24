package cmd

import (
	"context"
	"errors"
	"fmt"
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
		f.leftovers(p.Graph, p.left)
		return nil
	case "name":
		return showNames(f.Out, p.Graph, p.Deleted)
	}
	return f.output.write(f.Out, render.PlanObject(p.Plan, p.gaps))
}

// refused says why the plan would not be carried out, if it would not.
func (f *runFlags) refused(p *plannedRun, r *runRequest) error {
	if n := p.Deletes(); f.maxDeletes > 0 && n > f.maxDeletes {
		return refusal{withHint(fmt.Errorf("nothing was deleted: the plan has %d deletes, and --max-deletes allows %d", n, f.maxDeletes), "-n, --types and -l restrict what may be deleted")}
	}
	masses := p.Masses()
	if len(masses) == 0 || f.allowMass {
		return nil
	}
	var kinds []string
	for _, m := range masses {
		kinds = append(kinds, massWords(m))
	}
	return refusal{withHint(errors.New("nothing was deleted: "+strings.Join(kinds, "; ")),
		"after a backup was restored, its references name objects that are no more, and collecting would delete what was restored; if this is right, add --allow-mass-collection")}
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

// confirm shows the plan and asks. Nothing was written if it returns an error.
func (f *runFlags) confirm(ctx context.Context, p *plannedRun, r *runRequest) error {
	if err := f.refused(p, r); err != nil {
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
	return f.finish(ctx, summary, err, out, r)
}

// finish prints what came of it.
func (f *runFlags) finish(ctx context.Context, s *collect.Summary, err error, out *runTeller, r *runRequest) error {
	errs := out.errors()
	if s != nil {
		if !f.output.isOwn() {
			if err := f.output.write(f.Out, f.result(out.events, s.Graph, s.Left, s.Gaps)); err != nil {
				return err
			}
		} else if f.output.format() != "name" {
			fmt.Fprintln(f.Out, out.summary())
			f.leftovers(s.Graph, s.Left)
		}
		errs = append(errs, incomplete(s.Gaps))
	}
	switch {
	case err == nil:
	case ctx.Err() != nil && f.watch:
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		errs = append(errs, refusal{fmt.Errorf("timed out after %s; there are still objects that others have to let go", r.timeout)})
	case errors.Is(err, collect.ErrMaxDeletes):
		errs = append(errs, refusal{fmt.Errorf("stopped after %d deletes, which is what --max-deletes allows", f.maxDeletes)})
	default:
		errs = append(errs, err)
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
