// Package adopt is the commands kubectl gc adopt and disown.
package adopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownerref"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Options are the flags and arguments of kubectl gc adopt.
type Options struct {
	env.Mutation
	Args []string
	// Owner is an object as TYPE/NAME.
	Owner string
	Flags ownerref.Flags
}

// New returns the command adopt, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Mutation: env.NewMutation(e, "name")}
	var controller, block bool
	cmd := &cobra.Command{
		Use:        "adopt (TYPE/NAME | TYPE NAME) --owner TYPE/NAME",
		Short:      "Set an ownerReference of an object, validated",
		SuggestFor: []string{"own"},
		Long: `Give an object an owner, so that the garbage collector deletes it when the owner is gone.

The owner is read live for its uid. The object keeps the owners that it has. If it has this one
already, only the flags that you give are changed.

It refuses owners that would be wrong: one that is being deleted, is in another namespace, is
namespaced while the object is cluster-scoped, is the object itself, or is owned by the object
directly or indirectly; and a second controller.

The write carries the uid and the resourceVersion of the object, and both are read again
afterwards. If the owner was deleted meanwhile, the reference is removed again.

Exit code 2 means that it was refused.`,
		Example: `  # Have the ConfigMap deleted with the Deployment
  kubectl gc adopt configmap/settings --owner deployment/web

  # A foreground deletion of the Deployment waits for the ConfigMap
  kubectl gc adopt configmap settings --owner deployment/web --block`,
		RunE: env.RunE(o, func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("controller") {
				o.Flags.Controller = &controller
			}
			if cmd.Flags().Changed("block") {
				o.Flags.Block = &block
			}
			return o.validate(cmd, args)
		}, runF, run),
		ValidArgsFunction: e.CompleteObjects,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Owner, "owner", "",
		"The owner, as TYPE/NAME. It has to be in the namespace of the object, or cluster-scoped")
	flags.BoolVar(&controller, "controller", false, "Set controller, which one owner of an object can have")
	flags.BoolVar(&block, "block", false,
		"Set blockOwnerDeletion: a foreground deletion of the owner waits for the object")
	o.AddDryRun(
		cmd, "Must be \"none\", \"client\" or \"server\". client checks and writes nothing; server also sends the write with dryRun=All")
	o.Output.Add(cmd)
	e.CompleteFlag(cmd, "owner",
		func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
			return e.CompleteObjects(cmd, []string{"/"}, word) // as after the first TYPE/NAME
		})
	return cmd
}

func (o *Options) validate(cmd *cobra.Command, args []string) error {
	o.Args = args
	if err := env.CheckOne(cmd, o.Args); err != nil {
		return err
	}
	if strings.Count(o.Owner, "/") != 1 {
		return env.Usage(cmd, "--owner needs the owner as TYPE/NAME, and is %q", o.Owner)
	}
	return cmp.Or(o.CheckDryRun(cmd), o.Output.Validate(cmd))
}

func run(ctx context.Context, o *Options) error {
	q, child, err := o.One(ctx, o.Args)
	if err != nil {
		return err
	}
	_, owner, err := o.One(ctx, []string{o.Owner})
	if err != nil {
		return err
	}
	a, err := ownerref.PlanAdopt(ctx, q.Client, q.Catalog, child, owner, o.Flags)
	if err != nil {
		return q.WithPlace(ctx, err)
	}
	for _, w := range a.Warnings {
		render.Warn(o.ErrOut, "%s", render.Escape(w))
	}
	if o.DryRun != "client" {
		err = a.Perform(ctx, o.DryRun == "server")
	}
	return errors.Join(printChange(&o.Mutation, &a.Change, err, render.Adopted), err)
}

// printChange prints what was, or with a dry run would be, done to the references of an object, in
// kubectl's words. With the error of a change that was not made only an object for programs is
// printed.
func printChange(m *env.Mutation, c *ownerref.Change, failed error,
	words func(*ownerref.Change, string) string) error {
	if !m.Output.IsOwn() {
		var object env.Document = c.Result(failed)
		if m.DryRun != "none" && failed == nil {
			object = c.Printed()
		}
		return m.Output.Write(m.Out, object)
	}
	if failed != nil {
		return nil
	}
	if m.Output.Format() == "name" {
		_, err := fmt.Fprintln(m.Out, render.TypeName(c.Object))
		return err
	}
	suffix := map[string]string{"client": " (dry run)", "server": " (server dry run)"}[m.DryRun]
	_, err := fmt.Fprintln(m.Out, words(c, suffix))
	return err
}
