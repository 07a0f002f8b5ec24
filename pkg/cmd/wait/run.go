package wait

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

func run(ctx context.Context, o *Options) error {
	if err := o.Objects.Complete(&o.Request.Selection, o.Env, o.Args); err != nil {
		return err
	}
	client, catalog, err := o.Connect(ctx)
	if err != nil {
		return err
	}
	planned, err := deletion.PlanWait(ctx, client, catalog, o.Config, o.Request)
	if err != nil {
		return err
	}
	render.WarnGaps(o.ErrOut, planned.Gaps)
	missing := errors.Join(planned.Missing...)
	if planned.Plan == nil {
		switch {
		case missing != nil:
		case o.Output.IsOwn():
			fmt.Fprintln(o.Out, "No resources found")
		default:
			return o.Output.Write(o.Out, v1alpha1.NewResult(planned.Gaps))
		}
		return missing
	}
	if o.Output.Format() == "" && len(planned.Kept) == 0 {
		render.WaitBegins(o.Out, o.ErrOut, planned)
	}
	render.WarnUnattended(o.ErrOut, planned)
	view := render.NewWaitView(o.Out, o.ErrOut, o.Output.Lines(render.GoneLines), planned)
	result, err := deletion.Wait(ctx, planned, deletion.Options{
		Timeout: o.Timeout, OnEvent: view.Event, OnTick: view.Tick, Words: render.DeletionWords(planned),
	})
	view.Done()
	if result == nil {
		return errors.Join(missing, err)
	}
	var stuck []v1alpha1.Stuck
	if result.TimedOut {
		stuck = o.ExplainLeft(ctx, client, catalog, env.WaitedFor(result.Blocked))
	}
	return errors.Join(missing, o.print(result, stuck), err)
}

// print prints what came of the wait. Stuck is why objects are left after a time-out.
func (o *Options) print(r *deletion.Result, stuck []v1alpha1.Stuck) error {
	if o.Output.IsOwn() {
		return nil
	}
	out := r.Printed(render.WaitsOf(r.Planned).For)
	out.Stuck = stuck
	return o.Output.Write(o.Out, out)
}
