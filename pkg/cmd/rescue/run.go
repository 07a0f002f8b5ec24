package rescue

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/rescue"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

func run(ctx context.Context, o *Options) error {
	known, err := o.Known()
	if err != nil {
		return err
	}
	q, err := o.Query(ctx, &env.Objects{}, o.Args)
	if err != nil {
		return err
	}
	p, err := rescue.Plan(ctx, q, known, rescue.Request{
		Archive: o.Archive, DryRun: o.DryRun != "client",
		Overrides: unfinalize.Overrides{Force: o.Force, Asked: o.MayAsk()},
		OnGaps:    func(gaps []v1alpha1.Gap) { render.WarnGaps(o.ErrOut, gaps) },
	})
	if err != nil {
		return q.WithPlace(ctx, err)
	}
	show := func() error { return o.show(p) }
	switch refused := render.RescueRefusal(p); {
	case o.DryRun != "none":
		return errors.Join(show(), refused)
	case refused != nil:
		return errors.Join(o.ShowRefused(show), refused)
	}
	if err := o.Agree(ctx, show, render.RescueQuestion(p, o.Style(o.Output)), p.Finalizers.Precious(),
		"nothing was changed"); err != nil {
		return err
	}
	opts := rescue.Options{
		Timeout: o.Timeout,
		OnSaved: func(file string, saved *archive.Saved) { render.Archived(o.ErrOut, file, saved, false) },
	}
	if o.Lines() {
		opts.OnAction = func(a rescue.Action) { fmt.Fprintln(o.Out, render.RescueAction(a)) }
	}
	out := rescue.Perform(ctx, q, known, p, opts)
	render.RescueSkipped(o.ErrOut, out)
	return errors.Join(o.result(out), out.Err)
}

// show prints the plan in the format that was asked for.
func (o *Options) show(p *rescue.Planned) error {
	return o.Show(func(s render.Style) error { return render.RescuePlan(o.Out, p, s) },
		func() error { return o.name(p) }, func() env.Document { return p.Printed() })
}

// result prints what was done, where that was not said already.
func (o *Options) result(out *rescue.Outcome) error {
	return o.Tell(func() error { return nil }, func() error {
		if out.Err != nil {
			return nil
		}
		return o.name(out.Planned)
	}, func() env.Document { return out.Result })
}

func (o *Options) name(p *rescue.Planned) error {
	_, err := fmt.Fprintln(o.Out, render.TypeName(p.Ref))
	return err
}
