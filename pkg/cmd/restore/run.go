package restore

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/encode"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
)

func run(ctx context.Context, o *Options) error {
	client, catalog, err := o.Connect(ctx)
	if err != nil {
		return err
	}
	p, err := restore.New(ctx, client, catalog, o.File, restore.Options{
		Names: o.Names, Namespace: o.namespace(), All: o.All, Overwrite: o.Overwrite, Status: o.Status, RequireOwners: o.RequireOwners, OtherCluster: o.OtherCluster,
	})
	if err != nil {
		return err
	}
	var finding error
	if len(p.Held) > 0 {
		finding = answer.ErrFound
	}
	forbidden := render.RestoreForbidden(p)
	switch {
	case o.DryRun == "client", o.DryRun == "server" && (forbidden != nil || len(p.Steps) == 0):
		return errors.Join(o.show(p), forbidden, finding)
	case forbidden != nil:
		return errors.Join(o.tell(p), forbidden, finding)
	case len(p.Steps) == 0:
		return errors.Join(o.nothing(p), finding)
	}
	if err := o.confirm(ctx, p); err != nil {
		return err
	}
	return errors.Join(o.perform(ctx, client, p), finding)
}

// show prints the plan in the format that was asked for.
func (o *Options) show(p *restore.Plan) error {
	switch o.Output.Format() {
	case "", "wide":
		return render.RestorePlan(o.Out, p, o.Style(o.Output))
	case "name":
		return render.RestoreNames(o.Out, p)
	}
	return o.Output.Write(o.Out, encode.RestorePlan(p))
}

// tells says whether a person reads what is done.
func (o *Options) tells() bool { return o.Output.IsOwn() && o.Output.Format() != "name" }

// tell shows the plan to a person. A program that asked for a result gets none.
func (o *Options) tell(p *restore.Plan) error {
	if !o.tells() {
		return nil
	}
	return o.show(p)
}

// nothing says that there is nothing to do.
func (o *Options) nothing(p *restore.Plan) error {
	if o.Output.IsOwn() {
		return o.tell(p)
	}
	return o.Output.Write(o.Out, encode.RestoreResult(p, &restore.Result{}))
}

// confirm shows the plan and asks.
func (o *Options) confirm(ctx context.Context, p *restore.Plan) error {
	if o.DryRun != "none" {
		return nil
	}
	if o.Yes {
		if len(p.Held) == 0 || !o.tells() {
			return nil
		}
		return o.show(p)
	}
	if !o.HasTerminal() {
		return errors.Join(o.tell(p), answer.Refuse(answer.WithHint(errNoAnswer, "add --yes to perform the plan, or --dry-run=client to only show it")))
	}
	if err := o.show(p); err != nil {
		return err
	}
	err := o.Ask(ctx)
	if errors.Is(err, answer.ErrCancelled) {
		return answer.Cancelled("cancelled; nothing was restored")
	}
	return err
}

// perform does what was agreed to and says what came of it.
func (o *Options) perform(ctx context.Context, client *cluster.Client, p *restore.Plan) error {
	opts := restore.PerformOptions{DryRun: o.DryRun == "server"}
	if o.Output.IsOwn() {
		opts.OnDone = func(d restore.Done) {
			if o.tells() {
				fmt.Fprintln(o.Out, render.Restored(d, opts.DryRun))
			} else {
				fmt.Fprintln(o.Out, render.TypeName(d.Step.Object))
			}
		}
	}
	r, err := p.Perform(ctx, client, opts)
	errs := render.RestoreErrors(r, ctx.Err() != nil)
	if !o.Output.IsOwn() {
		errs = errors.Join(o.Output.Write(o.Out, encode.RestoreResult(p, r)), errs)
	} else if n := len(r.Unasked); n > 0 && o.tells() {
		fmt.Fprintf(o.ErrOut, "Warning: the server could not be asked about %d of %d steps, because what they need is not there yet\n", n, len(p.Steps))
	}
	return errors.Join(err, errs)
}
