package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// perform carries out the plan and waits for the cascade.
func (f *deleteFlags) perform(ctx context.Context, client *cluster.Client, d *deletion, p *plannedDeletion) error {
	if d.grace != nil && *d.grace == 0 {
		fmt.Fprintln(f.ErrOut, "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.")
	}
	t := newTeller(f, p)
	limited, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	defer t.done()
	result, err := act.Run(limited, client, p.Plan.Plan, act.Options{
		GracePeriodSeconds: d.grace, Positions: p.positions, Wait: f.wait, Tell: t.tell, Tick: t.tick,
	})
	if !f.output.isOwn() {
		if err := f.output.write(f.Out, resultObject(p.Plan, result, p.gaps)); err != nil {
			return err
		}
	}
	var errs []error
	for _, failed := range result.Failed {
		errs = append(errs, failed.Err)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		errs = append(errs, fmt.Errorf("interrupted; still under way: %s", remaining(result.Left, p.Known)))
	case errors.Is(err, context.DeadlineExceeded):
		errs = append(errs, refusal{withHint(fmt.Errorf("timed out after %s; still there: %s", d.timeout, remaining(result.Left, p.Known)),
			"the cascade goes on without this command; kubectl gc tree shows what is left")})
	default:
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// remaining names what is left and what it waits for.
func remaining(left []act.Left, known *finalizer.Registry) string {
	const most = 5
	var parts []string
	for i, l := range left {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(left)-most))
			break
		}
		parts = append(parts, render.Escape(l.Object.Kind+"/"+l.Object.Name)+" ("+waitsFor(l, known)+")")
	}
	return strings.Join(parts, ", ")
}

func waitsFor(l act.Left, known *finalizer.Registry) string {
	var others []string
	foreground, orphan := false, false
	for _, f := range l.Finalizers {
		switch f {
		case plan.ForegroundFinalizer:
			foreground = true
		case plan.OrphanFinalizer:
			orphan = true
		default:
			if k, ok := known.Lookup(f, l.Object.Group(), l.Object.Kind); ok && !k.Fallback {
				f += " of " + k.Who()
			}
			others = append(others, f)
		}
	}
	switch {
	case !l.Deleting:
		return "not deleted yet"
	case len(others) > 0:
		return "finalizer " + render.Escape(strings.Join(others, ", "))
	case foreground:
		return "waits for its dependents"
	case orphan:
		return "the collector has not orphaned its dependents"
	}
	return "terminating"
}
