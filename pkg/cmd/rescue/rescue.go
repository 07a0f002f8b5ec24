// Package rescue is the command kubectl gc rescue.
package rescue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/rescue"
)

// Options are the flags and arguments of kubectl gc rescue.
type Options struct {
	env.Mutation // whose Archive is empty for the default
	Args         []string
	// Timeout is how long it may take until the object that was freed is gone; zero for no limit.
	Timeout time.Duration
	Force   bool
}

// New returns the command rescue, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Mutation: env.NewMutation(e, "wide", "name"), Timeout: time.Minute}
	cmd := &cobra.Command{
		Use:        "rescue (TYPE/NAME | TYPE NAME)",
		Short:      "Bring back an object that is being deleted, with its dependents",
		SuggestFor: []string{"undelete", "recover"},
		Long: `Bring back an object that is being deleted and that a finalizer still holds.

A deletion cannot be taken back. The command archives the object and its dependents, removes the
references to the object from its dependents, removes the finalizers, waits until the object is
deleted, creates it again, and puts the references back with the new uid. The dependents keep
running, and the garbage collector has no reason to delete them at any time. A dependent that is
being deleted itself cannot be saved.

The archive is rescue-TYPE-NAME-UID.yaml in the current directory, or the file of --archive. If
the command is interrupted, run it again with --archive: it reads from the cluster where it
stands, and goes on from there. The archive is kept afterwards. It may contain secrets. An object
that is changed after it was archived is archived again before it is freed.

Finalizers are removed as kubectl gc unfinalize removes them: without --force, the object is left
as it is if the controller of a finalizer is running, because it cleans up outside the cluster
meanwhile, or if that is not known. --force is also required if the disk of a PersistentVolume
would be destroyed, for a Job that would run again, and for a ServiceAccount, whose tokens become
invalid. Namespaces and CustomResourceDefinitions cannot be rescued.

Exit code 2 means that something was refused, that another client created the object first, that
the object was not deleted in time, or that a dependent did not get its references back.`,
		Example: `  # Show what would be done
  kubectl gc rescue database/orders --dry-run

  # Bring it back
  kubectl gc rescue database/orders

  # Continue after an interruption
  kubectl gc rescue database/orders --archive rescue-databases-orders-6ba7b810-9dad-11d1-80b4-00c04fd430c8.yaml`,
		RunE:              env.RunE(o, o.validate, runF, run),
		ValidArgsFunction: e.CompleteObjects,
	}
	flags := cmd.Flags()
	o.AddArchive(cmd, "File of the archive. If it exists, the rescue that it is of goes on")
	flags.BoolVar(&o.Force, "force", false,
		"Free it even if the controller of a finalizer is running or was not found, or data can be lost")
	flags.DurationVar(&o.Timeout, "timeout", o.Timeout,
		"How long to wait until the object is deleted before it is created again. Zero means no limit")
	o.AddDryRun(
		cmd, "Must be \"none\", \"client\" or \"server\". client prints the plan; server also sends the writes that can be sent now with dryRun=All")
	o.AddYes(cmd, env.UsageYes)
	o.AddPacks(cmd)
	o.Output.Add(cmd)
	return cmd
}

func (o *Options) validate(cmd *cobra.Command, args []string) error {
	o.Args = args
	switch {
	case cmd.Flags().Changed("archive") && (o.Archive == "" || o.Archive == "-"):
		return env.Usage(cmd, "--archive needs the name of a file")
	case o.Timeout < 0:
		return env.Usage(cmd, "--timeout must not be negative")
	}
	return cmp.Or(env.CheckOne(cmd, args), o.CheckDryRun(cmd), o.CheckPacks(), o.Output.Validate(cmd))
}

func run(ctx context.Context, o *Options) error {
	known, err := o.Known()
	if err != nil {
		return err
	}
	q, err := o.Query(ctx, &env.Objects{}, o.Args)
	if err != nil {
		return err
	}
	request := rescue.Request{
		Archive: o.Archive, DryRun: o.DryRun != "client",
		Overrides: rescue.Overrides{Force: o.Force, Asked: o.MayAsk()},
		OnGaps:    func(gaps []v1alpha1.Gap) { render.WarnGaps(o.ErrOut, gaps) },
	}
	p, err := rescue.Plan(ctx, q, known, request)
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
	opts := rescue.Options{Timeout: o.Timeout, OnSaved: o.Archived}
	if o.Lines() {
		opts.OnEvent = render.RescueEvents(o.Out)
	}
	out := rescue.Perform(ctx, q, known, p, opts)
	render.RescueSkipped(o.ErrOut, out)
	return errors.Join(o.result(out), out.Err)
}

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
