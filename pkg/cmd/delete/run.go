package delete

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

func run(ctx context.Context, o *Options) error {
	return o.audited(ctx, func(ctx context.Context) error { return perform(ctx, o) })
}

func perform(ctx context.Context, o *Options) error {
	if err := o.Objects.Complete(&o.Request.Selection, o.Env, o.Args); err != nil {
		return err
	}
	client, catalog, err := o.Connect(ctx)
	if err != nil {
		return err
	}
	var view *render.DeletionView
	planning := func() {}
	o.Request.Progress = func() (func(cluster.Progress), func()) {
		view.Done()
		report, done := o.Listing()
		if view != nil {
			return report, done
		}
		return report, func() {
			done()
			planning()
			planning = o.Doing("planning, and asking the server what you may do")
		}
	}
	planned, err := deletion.Plan(ctx, client, catalog, o.Config, o.Request)
	planning()
	if err != nil {
		return err
	}
	if !planned.Empty() {
		o.About(planned.Namespaces())
	}
	render.WarnPlanned(o.ErrOut, planned)
	missing := errors.Join(planned.Missing...)
	switch {
	case planned.Empty() && missing != nil:
		return missing
	case planned.Empty() && (planned.Plan == nil || len(planned.Kept) == 0):
		return o.nothing(planned)
	case planned.Empty(), o.DryRun != "none":
		return errors.Join(missing, o.preview(ctx, client, catalog, planned))
	}
	if err := planned.Refused(o.asks()); err != nil {
		return errors.Join(missing, o.refused(planned, o.auditPlan(ctx, planned, "", err)))
	}
	view = render.NewDeletionView(o.Out, o.ErrOut, o.Output.Lines(render.NameLines), planned, o.GC == "client")
	result, err := deletion.Perform(ctx, planned, o.performing(ctx, planned, view))
	if result == nil {
		return errors.Join(missing, err)
	}
	view.Done()
	if printed := o.print(result); printed != nil {
		return errors.Join(missing, printed)
	}
	if result.TimedOut {
		o.ExplainLeft(ctx, client, catalog, result.WaitedFor())
	}
	return errors.Join(missing, err)
}

// preview prints the plan, for --dry-run=server with what the server says to its deletes, and
// compares it with an approved one.
func (o *Options) preview(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog,
	p *deletion.Planned) error {
	var refused error
	if o.DryRun == "server" {
		refused = p.DryRun(ctx, slices.Contains(o.FailOn, render.Protected))
		o.SayCalled(ctx, client, catalog)
	}
	judged := o.judged(ctx, p)
	shown := o.show
	switch o.Output.Format() {
	case "html":
		shown = func(p *deletion.Planned) error {
			page := render.PlanPage(o.title(p), render.DeletionPlan(p), p.Gaps, o.Env.Now())
			page.Plan.Digest = p.Digest()
			return o.Page(ctx, client, catalog, page)
		}
	case "markdown":
		shown = func(p *deletion.Planned) error { return render.PlanMarkdown(o.Out, o.title(p), judged, p.Digest()) }
	case "junit":
		shown = func(*deletion.Planned) error { return render.PlanJUnit(o.Out, judged, o.FailOn) }
	case "sarif":
		shown = func(p *deletion.Planned) error { return render.PlanSARIF(o.Out, judged, o.FailOn, p.Source) }
	}
	failed := render.FailOn(judged, o.FailOn, "the plan does not pass")
	return errors.Join(shown(p), o.confirmed(p), p.TooMany(), failed, refused)
}

// judged is the plan with what --fail-on needs to know of it. A dry run on the server has asked for
// all of it.
func (o *Options) judged(ctx context.Context, p *deletion.Planned) render.Plan {
	shown := render.DeletionPlan(p)
	if o.DryRun != "server" && slices.Contains(o.FailOn, render.Protected) {
		shown.Unjudged = p.Unjudged(ctx)
	}
	return shown
}

// agree shows a plan and asks, unless --yes or --confirm has agreed to the first one.
func (o *Options) agree(ctx context.Context, p *deletion.Planned, change *deletion.Change) error {
	if err := render.FailOn(o.judged(ctx, p), o.FailOn, "nothing was deleted"); err != nil {
		return o.refused(p, err)
	}
	switch {
	case o.approved != nil && change != nil:
		return deletion.ErrNobodyToAsk
	case o.approved != nil:
		if err := o.confirmed(p); err != nil {
			return o.refused(p, err)
		}
		render.WarnPlan(o.ErrOut, render.DeletionPlan(p))
		return nil
	case change == nil && o.Yes && !o.Interactive:
		render.WarnPlan(o.ErrOut, render.DeletionPlan(p))
		return nil
	case o.Interactive || o.HasTerminal():
	case change != nil:
		return deletion.ErrNobodyToAsk
	default:
		return o.refused(p, env.NoTerminal("nothing was deleted"))
	}
	if change != nil {
		render.Warn(o.ErrOut, "%s, and the new plan does more: %s", render.Escape(change.What()),
			render.Escape(change.More()))
	}
	if err := o.show(p); err != nil {
		return err
	}
	if says := p.WouldBeStuck(); says != "" && !o.Request.AllowStuck {
		fmt.Fprintf(o.Out, "The deletion would not complete: %s.\n", render.Escape(says))
	}
	return o.Env.Confirm(ctx, render.Question, p.Precious(), "")
}

// asks reports whether a person is asked.
func (o *Options) asks() bool {
	return o.Interactive || !o.Yes && o.approved == nil && o.HasTerminal()
}
