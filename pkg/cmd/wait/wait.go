// Package wait is the command kubectl gc wait.
package wait

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Options are the flags and arguments of kubectl gc wait.
type Options struct {
	*env.Env
	Objects env.Objects
	Output  *env.Output
	Args    []string
	// Request says what is waited for as the flags ask for it; run fills in the namespace.
	Request deletion.Request
	Timeout time.Duration
}

// New returns the command wait, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Env: e, Output: env.NewOutput(e, "name")}
	cmd := &cobra.Command{
		Use:        "wait ([-f FILENAME] | TYPE [(NAME | -l label | --all)])",
		Short:      "Wait for the whole cascade of a deletion that somebody began",
		SuggestFor: []string{"watch"},
		Long: `Wait for deletions someone else started, until the objects and all that go with them are deleted:
dependents, the content of a namespace, the instances of a CRD, and what controllers delete, such
as the composite of a Crossplane claim.

kubectl gc wait sends no delete. It reads from the finalizers of the objects how they are
deleted, works out which objects of the cascade go and which are kept, and shows while it waits
what is left and why, as kubectl gc delete does.

An object is waited for if it is being deleted, or if something takes it along that is: its
namespace, an owner in foreground deletion, or an owner that is gone already. If an object is
not going to be deleted, the command says so at once. A missing object counts as deleted;
if dependents of an owner of that type and name are left, they are waited for. An object that
was created again under the same name is another one, and not waited for.

If nobody removes a finalizer that it waits for, because the controller does not run or what it
needs does not exist, a warning says so at the beginning; the command waits all the same, since
somebody may bring it back.

After --timeout the command explains why the remaining objects still exist, as kubectl gc why
does. Unlike that of kubectl wait, the timeout is for all objects together, and its default is
that of kubectl delete.

Exit code 2 means that an object is not being deleted, that objects still exist after --timeout,
that the deletion cannot complete, that a controller kept what it was to delete, or that types
that may contain dependents could not be listed (--allow-incomplete accepts that).`,
		Example: `  # Wait until the namespace and all its content are deleted
  kubectl gc wait namespace/shop

  # Wait at most five minutes, and say why the deletion is stuck if it is
  kubectl gc wait deployment/web --timeout=5m

  # Begin a deletion here, and wait for its cascade elsewhere
  kubectl delete deployment/web --cascade=foreground --wait=false
  kubectl gc wait deployment/web

  # The result for a program, with the causes after a timeout
  kubectl gc wait -f app.yaml --timeout=10m -o json`,
		RunE:              env.RunE(o, o.validate, runF, run),
		ValidArgsFunction: e.CompleteObjects,
	}
	o.Objects.AddFlags(o.Env, cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.Request.Selection.Fields, "field-selector", "",
		"Selector (field query) to filter on, supports '=', '==', and '!='")
	flags.BoolVar(&o.Request.Selection.All, "all", false, "Wait for all objects of the given types in the namespace")
	flags.DurationVar(&o.Timeout, "timeout", 0,
		"How long to wait for the whole cascade before giving up; zero means a week")
	flags.BoolVar(&o.Request.AllowIncomplete, "allow-incomplete", false,
		"Exit with 0 even if types that may contain dependents could not be listed")
	o.AddPacks(cmd)
	o.Output.Add(cmd)
	return cmd
}

// validate checks what was typed before anything is asked of the server, and fills in the request.
func (o *Options) validate(cmd *cobra.Command, args []string) error {
	o.Args = args
	s := o.Request.Selection
	switch {
	case s.All && o.Objects.Selector != "":
		return env.Usage(cmd, "cannot set --all and --selector at the same time")
	case s.All && s.Fields != "":
		return env.Usage(cmd, "cannot set --all and --field-selector at the same time")
	case len(o.Args) == 0 && !o.Objects.HasFiles():
		return env.Usage(cmd, "you must specify the objects to wait for: TYPE NAME, TYPE/NAME, a selector, or -f FILENAME")
	case o.Timeout < 0:
		return env.Usage(cmd, "--timeout must not be negative")
	case o.Timeout == 0:
		o.Timeout = env.NoTimeout
	}
	o.Request.Known, o.Request.Progress = o.Known, o.Listing
	return cmp.Or(o.Objects.Validate(cmd, o.Args), o.CheckPacks(), o.Output.Validate(cmd))
}

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
		stuck = o.ExplainLeft(ctx, client, catalog, result.WaitedFor())
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
