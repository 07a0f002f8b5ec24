// Package protect is the command kubectl gc protect.
package protect

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/protect"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Options are the flags and arguments of kubectl gc protect.
type Options struct {
	*env.Env
	Objects env.Objects
	Args    []string
	// Except are the values of --except-user.
	Except []string
	// Check asks the server whether the policies hold.
	Check bool
}

// New returns the command protect, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Env: e}
	cmd := &cobra.Command{
		Use:        "protect (TYPE/NAME ... | TYPE NAME ... | -f FILENAME)",
		Short:      "Print policies that deny what would delete an object",
		SuggestFor: []string{"guard", "lock"},
		Long: `Print a ValidatingAdmissionPolicy and its binding for each object. Nothing is applied.

The policy denies the deletion of the object, and of every object whose deletion would delete it:
its owners, their owners, its namespace, its CRD, and what manages it, as an annotation or a label of
the object says. An object with two owners is not deleted with the first of them, so that deletion is
not denied; a warning names the owners. Where --cascade=orphan leaves the object, it is not denied.

The policy refers to objects by uid: a new object with the same name is not protected. It never
denies requests of the garbage collector, the namespace controller or the API server, nor of an
object that is already being deleted. The annotation gc.kubectl.dev/allow-deletion on the object that
you want to delete disables the policy for it, and --except-user names users who may delete. The
policies need Kubernetes 1.30 or later. They do not cover the removal of finalizers, nor their own
deletion, and no evictions: a warning names the pods whose eviction would delete the object.

--check sends dry runs: the server must deny each of these deletions, and must allow the deletion of
another object of the same type. Exit code 2 means that it does not, that something above an object
could not be listed, or that an object is already being deleted.`,
		Example: `  # Protect a database from deletion
  kubectl gc protect pvc/data-db-0 -n shop | kubectl apply -f -

  # Does the server deny what it must?
  kubectl gc protect pvc/data-db-0 -n shop --check`,
		RunE:              env.RunE(o, o.validate, runF, run),
		ValidArgsFunction: e.CompleteObjects,
	}
	o.Objects.AddFlags(o.Env, cmd)
	cmd.Flags().StringSliceVar(&o.Except, "except-user", nil, "Names of users who may delete the objects")
	cmd.Flags().BoolVar(&o.Check, "check", false, "Send dry runs to see whether the server denies these deletions")
	o.AddPacks(cmd)
	return cmd
}

func (o *Options) validate(cmd *cobra.Command, args []string) error {
	o.Args = args
	if !o.Objects.Named(args) {
		return env.Usage(cmd, "name the objects to protect: TYPE/NAME, TYPE NAME or -f FILENAME")
	}
	return cmp.Or(o.Objects.Validate(cmd, args), o.CheckPacks())
}

func run(ctx context.Context, o *Options) error {
	links, err := o.Links()
	if err != nil {
		return err
	}
	q, err := o.Query(ctx, &o.Objects, o.Args)
	if err != nil {
		return err
	}
	p, err := protect.Find(ctx, q, links, o.Except)
	if err != nil {
		return err
	}
	render.WarnProtection(o.ErrOut, p)
	if o.Check {
		err = o.check(ctx, p)
	} else {
		err = o.Print(ctx, func() error { return render.Policies(o.Out, p) })
	}
	return errors.Join(err, p.Refused())
}

// check asks the server whether the policies hold, and prints what it answers.
func (o *Options) check(ctx context.Context, p *protect.Protection) error {
	done := o.Doing("asking the server what it denies")
	checked, err := p.Check(ctx)
	done()
	if err != nil {
		return err
	}
	err = o.Print(ctx, func() error { return render.CheckedDeletions(o.Out, checked) })
	return errors.Join(err, protect.Held(checked))
}
