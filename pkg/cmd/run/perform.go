package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

func run(ctx context.Context, o *Options) error {
	request, err := o.request()
	if err != nil {
		return err
	}
	client, err := o.Client()
	if err != nil {
		return err
	}
	if err := o.Identify(ctx, client); err != nil {
		return err
	}
	o.examine = func(ctx context.Context, p *plan.Plan) (deletion.Examined, error) {
		return deletion.Examine(ctx, client, o.Known, p)
	}
	p, err := collect.Plan(ctx, client, request)
	if err != nil {
		return err
	}
	render.WarnGaps(o.ErrOut, p.Gaps)
	render.WarnUnread(o.ErrOut, p.Unread)
	if o.DryRun != "none" {
		failed := o.judge(ctx, p.Proposal, "the plan does not pass")
		return errors.Join(o.show(p.Proposal), p.Refused(), failed, p.Incomplete())
	}
	outcome, err := p.Perform(ctx)
	switch {
	case outcome != nil:
		o.SayUndo()
		told := func(g v1alpha1.Gap) bool { return slices.Contains(p.Gaps, g) } // with the plan
		render.WarnGaps(o.ErrOut, slices.DeleteFunc(slices.Clone(outcome.Gaps), told))
		if len(outcome.WaitedFor) > 0 {
			if catalog, err := client.Discover(ctx); err == nil {
				o.ExplainLeft(ctx, client, catalog, outcome.WaitedFor)
			}
		}
		return errors.Join(o.print(outcome), err)
	case answer.IsRefusal(err) && o.Lines():
		return errors.Join(o.show(p.Proposal), err)
	}
	return err
}

// request is what the flags come to.
func (o *Options) request() (collect.Request, error) {
	r := collect.Request{
		Types: o.Types, MaxDeletes: o.MaxDeletes, AllowOwnerLoss: o.AllowMass,
		Overrides: plan.Overrides{KeepMismatched: o.HoldMismatched, BreakDeadlocks: o.BreakDeadlocks,
			UnservedKinds: map[[2]string]bool{}},
		Wait: o.Wait, Watch: o.Watch, Timeout: o.Timeout, Archive: o.archive(),
		Agree: o.agree, OnEvent: o.event, Paused: func(err error) { render.Message(o.ErrOut, "", render.Paused(err)) },
	}
	if r.Timeout == 0 {
		r.Timeout = env.NoTimeout
	}
	if o.Events {
		r.Warned = o.warned
	}
	for _, g := range o.Gone {
		kind, _ := parseKind(g) // validated
		r.Overrides.UnservedKinds[kind] = true
	}
	if o.Selector != "" {
		r.Selector, _ = labels.Parse(o.Selector) // validated
	}
	var err error
	if o.Namespaced {
		r.Namespace, err = o.Namespace()
	} else {
		o.Scope = "all namespaces"
	}
	return r, err
}

// show prints a plan in the format that was asked for.
func (o *Options) show(p *collect.Proposal) error {
	switch {
	case o.Output.Format() == "name":
		return render.Names(o.Out, p.Graph, p.Plan.Deleted)
	case o.Output.Format() == "sarif":
		return render.PlanSARIF(o.Out, render.RunPlan(p, o.examined), o.FailOn, func([]graph.Ref) string { return "" })
	case !o.Lines():
		return o.Output.Write(o.Out, o.planned(p))
	case len(p.Plan.Actions) == 0:
		fmt.Fprintln(o.Out, render.NothingToCollect(p.Gaps, p.Unread))
	default:
		if err := o.Head(o.Out); err != nil {
			return err
		}
		if err := render.PlanTable(o.Out, render.RunPlan(p, o.examined), o.Style(o.Output)); err != nil {
			return err
		}
	}
	render.Follows(o.ErrOut, p.Plan)
	o.leftovers(p.Graph, p.NotDeleted())
	return nil
}

func (o *Options) leftovers(g *graph.Graph, left []plan.ObjectReason) {
	known, _ := o.Known() // without it the finalizers are named all the same
	render.Leftovers(o.ErrOut, g, left, known)
}

// judge refuses a plan that has what --fail-on names, after that was found out.
func (o *Options) judge(ctx context.Context, p *collect.Proposal, undone string) error {
	if len(o.FailOn) == 0 {
		return nil
	}
	var err error
	if o.examined, err = o.examine(ctx, p.Plan); err != nil {
		return err
	}
	return render.FailOn(render.RunPlan(p, o.examined), o.FailOn, undone)
}

// agree asks about a plan: the first, and one that has grown since it was agreed to. Who watches
// with --yes is the collector: what comes up is what it is for.
func (o *Options) agree(ctx context.Context, p *collect.Proposal) error {
	grown := !p.Growth.None()
	undone := "nothing was deleted"
	if grown {
		undone = fmt.Sprintf("stopped before pass %d", p.Pass)
	}
	if err := o.judge(ctx, p, undone); err != nil {
		return err
	}
	switch {
	case o.Yes && (o.Watch || !grown):
		render.WarnPlan(o.ErrOut, render.RunPlan(p, o.examined))
		return nil
	case !grown && !o.HasTerminal():
		return env.NoTerminal("nothing was deleted")
	case grown && (o.Yes || !o.HasTerminal()):
		return answer.Refuse(
			answer.WithHint(fmt.Errorf("stopped before pass %d: the plan has grown since it was agreed to: %s", p.Pass,
				render.Growth(p)), "run the command again for a new plan"))
	case grown:
		render.Warn(o.ErrOut, "the plan has grown since you agreed to it: %s", render.Growth(p))
	}
	if err := o.show(p); err != nil {
		return err
	}
	err := o.Confirm(ctx, render.Question, p.Plan.Precious(), "")
	if grown && errors.Is(err, answer.ErrCancelled) {
		return answer.Refuse(fmt.Errorf("stopped before pass %d: the new plan was not agreed to", p.Pass))
	}
	return err
}

// event prints a line for each write as it happens. A failure is among the errors in the end, but a
// watch may go on for months.
func (o *Options) event(e plan.Event) {
	switch {
	case e.Err != nil && o.Watch:
		render.Warn(o.ErrOut, "%s", render.Escape(collect.Failure(e).Error()))
	case e.Err != nil:
	case o.Lines():
		fmt.Fprintln(o.Out, render.ActionLine(e.Action))
	case o.Output.Format() == "name" && e.Action.Verb == plan.VerbDelete:
		fmt.Fprintln(o.Out, render.TypeName(e.Action.Object))
	}
}

// warned prints a line for each Event that was written. One that is refused, as in a namespace that
// is being deleted, is no error.
func (o *Options) warned(dependent graph.Ref, err error) {
	switch {
	case err != nil:
		fmt.Fprintln(o.ErrOut, render.EventWritten(dependent, err))
	case o.Lines():
		fmt.Fprintln(o.Out, render.EventWritten(dependent, nil))
	}
}

func (o *Options) print(out *collect.Outcome) error {
	switch {
	case !o.Output.IsOwn():
		known, _ := o.Known() // without it the finalizers are named all the same
		return o.Output.Write(o.Out, out.Printed(func(l plan.ObjectReason) string {
			return render.LeftBecause(out.Graph, l, known)
		}))
	case !o.Lines():
		return nil
	case out.Idle:
		fmt.Fprintln(o.Out, render.NothingToCollect(out.Gaps, out.Unread))
	default:
		fmt.Fprintln(o.Out, render.RunSummary(out.Tally))
	}
	o.leftovers(out.Graph, out.NotDeleted)
	return nil
}

// archive is the file of --archive; nil without one.
func (o *Options) archive() *collect.Archive {
	if o.Archive == "" {
		return nil
	}
	return &collect.Archive{File: o.Archive, Head: o.planned, OnSaved: o.Archived}
}

// planned is a plan as it is printed.
func (o *Options) planned(p *collect.Proposal) *v1alpha1.Plan {
	shown := render.RunPlan(p, o.examined)
	return shown.Printed(shown.Gaps)
}
