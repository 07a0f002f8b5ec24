package restore

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
)

func run(ctx context.Context, o *Options) error {
	client, catalog, err := o.Connect(ctx)
	if err != nil {
		return err
	}
	if o.Last {
		if err := o.last(ctx, client); err != nil {
			return err
		}
	}
	p, err := restore.New(ctx, client, catalog, o.File, restore.Options{
		Names: o.Names, Namespace: o.namespace(), All: o.All, Overwrite: o.Overwrite, Status: o.Status,
		RequireOwners: o.RequireOwners, OtherCluster: o.OtherCluster,
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
		return errors.Join(o.ShowRefused(func() error { return o.show(p) }), forbidden, finding)
	case len(p.Steps) == 0:
		return errors.Join(o.nothing(p), finding)
	}
	if err := o.confirm(ctx, p); err != nil {
		return err
	}
	return errors.Join(o.perform(ctx, client, p), finding)
}

// last takes the newest archive of this cluster, or of any, and says which one that is.
func (o *Options) last(ctx context.Context, client *cluster.Client) (err error) {
	this := ""
	if !o.OtherCluster {
		if this, err = client.Identity(ctx); err != nil {
			return err
		}
	}
	folder, err := env.Archives()
	if err == nil {
		o.File, err = folder.Last(this)
	}
	if err != nil {
		return fmt.Errorf("--last: %w", err)
	}
	fmt.Fprintf(o.ErrOut, "restoring from %s\n", render.Escape(o.File))
	return nil
}

// show prints the plan in the format that was asked for.
func (o *Options) show(p *restore.Plan) error {
	return o.Show(func(s render.Style) error { return render.RestorePlan(o.Out, p, s) },
		func() error { return render.RestoreNames(o.Out, p) }, func() env.Document { return p.Printed() })
}

// nothing says that there is nothing to do.
func (o *Options) nothing(p *restore.Plan) error {
	if o.Output.IsOwn() {
		return o.ShowRefused(func() error { return o.show(p) })
	}
	return o.Output.Write(o.Out, (&restore.Result{}).Printed(p))
}

// confirm shows the plan and asks. With --yes it is shown only where something of it is left out.
func (o *Options) confirm(ctx context.Context, p *restore.Plan) error {
	show := func() error { return o.show(p) }
	switch {
	case o.DryRun != "none":
		return nil
	case o.Yes && len(p.Held) > 0:
		return o.ShowRefused(show)
	}
	return o.Agree(ctx, show, env.Question, "", "nothing was restored")
}

// perform does what was agreed to and says what came of it.
func (o *Options) perform(ctx context.Context, client *cluster.Client, p *restore.Plan) error {
	opts := restore.PerformOptions{DryRun: o.DryRun == "server"}
	if o.Output.IsOwn() {
		opts.OnDone = func(d restore.Done) {
			if o.Lines() {
				fmt.Fprintln(o.Out, render.Restored(d, opts.DryRun))
			} else {
				fmt.Fprintln(o.Out, render.TypeName(d.Step.Object))
			}
		}
	}
	r, err := p.Perform(ctx, client, opts)
	errs := render.RestoreErrors(r, ctx.Err() != nil)
	if !o.Output.IsOwn() {
		errs = errors.Join(o.Output.Write(o.Out, r.Printed(p)), errs)
	} else if n := len(r.Unasked); n > 0 && o.Lines() {
		render.Warn(o.ErrOut, "the server could not be asked about %d of %d steps, because what they need is not there yet",
			n, len(p.Steps))
	}
	return errors.Join(err, errs)
}
