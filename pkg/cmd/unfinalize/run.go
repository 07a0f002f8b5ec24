package unfinalize

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

func run(ctx context.Context, o *Options) error {
	known, err := o.Known()
	if err != nil {
		return err
	}
	args := o.Args
	if o.Tree != "" {
		args = []string{o.Tree}
	}
	q, err := o.Query(ctx, &o.Objects, args)
	if err != nil {
		return err
	}
	p, err := unfinalize.Plan(ctx, q, known, o.request(ctx))
	if err != nil {
		return q.WithPlace(ctx, err)
	}
	finding := p.Finding()
	switch refused := render.UnfinalizeRefusal(p, o.KeepGoing); {
	case len(p.Batches) == 0:
		return errors.Join(o.nothing(p), finding)
	case o.DryRun != "none":
		return errors.Join(o.show(p), refused, finding)
	case len(p.Allowed().Batches) == 0, refused != nil && !o.KeepGoing:
		return errors.Join(o.ShowRefused(func() error { return o.show(p) }), refused, finding)
	default:
		if err := o.confirm(ctx, p); err != nil {
			return errors.Join(err, refused, finding)
		}
		if o.Archive != "" {
			saved, err := unfinalize.Save(ctx, q.Client, p, o.Archive)
			if err != nil {
				return errors.Join(err, finding)
			}
			o.Archived(saved)
		}
		opts := unfinalize.Options{KeepGoing: o.KeepGoing}
		if o.Lines() {
			opts.OnAction = func(a unfinalize.Action) { fmt.Fprintln(o.Out, render.UnfinalizeAction(a)) }
		}
		outcomes := unfinalize.Perform(ctx, q.Client, p.Allowed(), opts)
		return errors.Join(o.result(ctx, p, outcomes), refused, finding)
	}
}

// request is what the flags come to.
func (o *Options) request(ctx context.Context) unfinalize.Request {
	return unfinalize.Request{
		Finalizers: o.Finalizers, AllStuck: o.AllStuck, Tree: o.Tree != "", DryRun: o.DryRun != "client",
		Overrides: unfinalize.Overrides{Force: o.Force, ForceLive: o.ForceLive, Asked: o.MayAsk()},
		Choose:    func(p *unfinalize.Planned) (unfinalize.Choice, error) { return o.choose(ctx, p) },
		OnGaps:    func(gaps []v1alpha1.Gap) { render.WarnGaps(o.ErrOut, gaps) },
		OnLeftAlone: func(object graph.Ref, why error) {
			render.Warn(o.ErrOut, "%s is left alone: %v", render.Quoted(object), why)
		},
		OnSecondLook: func(namespace string, wait time.Duration) {
			fmt.Fprintf(o.ErrOut, "nothing found in namespace %s; looking again in %s\n", render.Escape(namespace), wait)
		},
	}
}

// result says what came of what was agreed to.
func (o *Options) result(ctx context.Context, p *unfinalize.Planned, outcomes []*unfinalize.Outcome) error {
	known, _ := o.Known() // which was read for the plan
	return errors.Join(o.Tell(
		func() error { return render.UnfinalizeOutcomes(o.Out, o.ErrOut, outcomes, known) },
		func() error { return render.UnfinalizedNames(o.Out, outcomes) },
		func() env.Document {
			return p.Result(outcomes, func(u *unfinalize.Outcome) string { return render.UnfinalizeLeft(u, known) })
		}), render.UnfinalizeErrors(outcomes, ctx.Err() != nil))
}
