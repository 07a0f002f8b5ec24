package adopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownerref"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// DisownOptions are the flags and arguments of kubectl gc disown.
type DisownOptions struct {
	env.Mutation
	Args []string
	// Owner is an object as TYPE/NAME, and OwnerUID its uid; empty without the flag.
	Owner, OwnerUID string
	All             bool
}

// NewDisown returns the command disown, which calls runF with its options; nil runs it.
func NewDisown(e *env.Env, runF func(context.Context, *DisownOptions) error) *cobra.Command {
	o := &DisownOptions{Mutation: env.NewMutation(e, "name")}
	cmd := &cobra.Command{
		Use:        "disown (TYPE/NAME | TYPE NAME) [--owner TYPE/NAME | --owner-uid UID | --all]",
		Short:      "Remove an ownerReference of an object",
		SuggestFor: []string{"orphan"},
		Long: `Remove an ownerReference of an object, so that it is not deleted with that owner.

Without --owner and --owner-uid the object must have one owner. The owner need not exist: --owner
is compared with the kind and the name in the references, and --owner-uid with their uids.
References with the same uid are removed together.

An object without owners is not deleted by the garbage collector. If all owners that are left are
absent or wait for the object, the collector deletes it; disown then asks, or needs --yes.

The write carries the uid and the resourceVersion of the object. It is read again afterwards: a
controller whose selector matches the object sets the reference again, which is reported.

Exit code 2 means that it was refused, or that the reference was set again.`,
		Example: `  # Keep the ConfigMap when the Deployment is deleted
  kubectl gc disown configmap/settings --owner deployment/web

  # Remove all owners
  kubectl gc disown configmap settings --all`,
		RunE:              env.RunE(o, o.validate, runF, disown),
		ValidArgsFunction: e.CompleteObjects,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Owner, "owner", "", "The owner whose reference is removed, as TYPE/NAME")
	flags.StringVar(&o.OwnerUID, "owner-uid", "", "The uid in the reference that is removed")
	flags.BoolVar(&o.All, "all", false, "Remove all references")
	o.AddYes(cmd, "Do not ask, even if the garbage collector deletes the object because of it")
	o.AddDryRun(
		cmd, "Must be \"none\", \"client\" or \"server\". client checks and writes nothing; server also sends the write with dryRun=All")
	o.Output.Add(cmd)
	e.CompleteFlag(cmd, "owner", o.completeOwners)
	e.CompleteFlag(cmd, "owner-uid", cobra.NoFileCompletions)
	return cmd
}

func (o *DisownOptions) validate(cmd *cobra.Command, args []string) error {
	o.Args = args
	if err := env.CheckOne(cmd, o.Args); err != nil {
		return err
	}
	switch {
	case o.All && o.Owner+o.OwnerUID != "":
		return env.Usage(cmd, "--all cannot be used together with --owner or --owner-uid")
	case cmd.Flags().Changed("owner") && strings.Count(o.Owner, "/") != 1:
		return env.Usage(cmd, "--owner needs the owner as TYPE/NAME, and is %q", o.Owner)
	case cmd.Flags().Changed("owner-uid") && o.OwnerUID == "":
		return env.Usage(cmd, "--owner-uid needs the uid of an owner")
	}
	return cmp.Or(o.CheckDryRun(cmd), o.Output.Validate(cmd))
}

// completeOwners completes the owners of the object that is named.
func (o *DisownOptions) completeOwners(cmd *cobra.Command, args []string, word string) ([]string,
	cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), env.CompletionTimeout)
	defer cancel()
	q, child, err := o.One(ctx, args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return env.Beginning(ownerref.Names(ctx, q.Client, child), word), cobra.ShellCompDirectiveNoFileComp
}

func disown(ctx context.Context, o *DisownOptions) error {
	q, child, err := o.One(ctx, o.Args)
	if err != nil {
		return err
	}
	which := ownerref.Which{UID: o.OwnerUID, All: o.All}
	which.Kind, which.Name, _ = strings.Cut(o.Owner, "/")
	if which.Kind != "" {
		if t, err := q.FindType(which.Kind); err == nil {
			which.Type = &t.Type
		}
	}
	d, err := ownerref.PlanDisown(ctx, q.Client, q.Catalog, child, which)
	if err != nil {
		return q.WithPlace(ctx, err)
	}
	if o.DryRun == "none" && d.Dangerous() {
		if err := o.agree(ctx, d); err != nil {
			return err
		}
	}
	if o.DryRun != "client" {
		err = d.Perform(ctx, o.DryRun == "server")
	}
	err = errors.Join(printChange(&o.Mutation, &d.Change, err, render.Disowned), err)
	if left := render.OwnersLeft(&d.Change); left != "" && err == nil && !d.Nothing() {
		render.Message(o.ErrOut, "", left)
	}
	return err
}

// agree asks, since the collector deletes the object, or may do so.
func (o *DisownOptions) agree(ctx context.Context, d *ownerref.Disownment) error {
	if o.Yes {
		return nil
	}
	because := fmt.Errorf("%s was not changed: %s", d.Object.Quoted(), render.OwnersLeft(&d.Change))
	if !o.HasTerminal() {
		return answer.Refuse(answer.WithHint(because,
			"add --yes if you want that, or give it an owner with kubectl gc adopt first"))
	}
	render.Warn(o.ErrOut, "%s", render.OwnersLeft(&d.Change))
	return o.Confirm(ctx, render.Question, "", "nothing was removed")
}
