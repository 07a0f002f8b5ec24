// Package unfinalize is the command kubectl gc unfinalize.
package unfinalize

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/browse"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// Options are the flags and arguments of kubectl gc unfinalize.
type Options struct {
	env.Mutation
	Objects    env.Objects
	Args       []string
	Finalizers []string
	// Tree is an object as TYPE/NAME; empty without the flag.
	Tree                string
	Force, ForceLive    bool
	AllStuck, KeepGoing bool
	// Interactive has the finalizer chosen in a list.
	Interactive bool
}

// New returns the command unfinalize, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Mutation: env.NewMutation(e, "wide", "name")}
	cmd := &cobra.Command{
		Use:        "unfinalize (TYPE/NAME... | TYPE NAME... | TYPE -l label | --tree TYPE/NAME | [TYPE] --all-stuck)",
		Short:      "Remove finalizers from stuck objects, after an assessment",
		SuggestFor: []string{"finalize", "finalizers", "unstick"},
		Long: `Remove named finalizers from objects that are stuck in deletion.

Before it writes anything, it prints for each finalizer which controller removes it, whether
that controller is running and how that was found out, which cleanup is skipped, and what happens
if the controller is started again. Without --finalizer it lists the finalizers and asks which
ones to remove; that needs a terminal. With --interactive one is chosen in a list.

Without --force, a finalizer is kept if its controller is running, if it protects an object that
others use or may use, if data can be lost, or if the cluster can break. Without --force-live,
objects that are not being deleted are left alone. If the controller was not found, runs outside
the cluster or is not known, something outside the cluster may leak: add --force, or confirm the
question that names it.

It lists what follows: once the object is deleted, the garbage collector deletes its dependents.
If that destroys the disk of a PersistentVolume, --force is required.

A safer method is used where one exists. "orphan" is removed after the references to the owner
are removed from all dependents, and only if no dependent can be in a type that could not be
listed. For "foregroundDeletion" the object is deleted again with the policy Background.
"kubernetes" in the spec of a namespace is removed through /finalize after two complete listings
have found the namespace empty, or with --force after listing what stays behind. An object
without finalizers whose deletion was interrupted is deleted again.

Each write is first sent as a dry run, so that a webhook that is down or an object that is no
longer valid is reported before anything changes. Each write carries the uid, the
resourceVersion and the value that it removes. An object that changed in the meantime is read
and assessed again, and its other finalizers keep their order. Afterwards it reports which
objects are deleted, and which still exist and why: other finalizers, or a controller that added
the finalizer again.

Exit code 2 means that something was refused, or that a finalizer was added again.`,
		Example: `  # List its finalizers and what is known of them
  kubectl gc unfinalize widget/engine

  # Go through the finalizers of everything that is stuck in a namespace, and choose one
  kubectl gc unfinalize --all-stuck -n shop -i

  # Remove one finalizer
  kubectl gc unfinalize widget/engine --finalizer billing.example.com/close-account

  # Turn a foreground deletion that hangs into a background deletion
  kubectl gc unfinalize deployment/web --finalizer foregroundDeletion

  # Finalize a namespace that is empty
  kubectl gc unfinalize namespace/shop --finalizer kubernetes

  # Release everything in the cluster that waits for an uninstalled operator, and keep a copy
  kubectl gc unfinalize --all-stuck -A --finalizer finalizer.acme.cert-manager.io --archive challenges.yaml

  # Remove it from everything below an object, leaves first
  kubectl gc unfinalize --tree namespace/shop --finalizer widgets.example.com/cleanup --keep-going

  # Print the plan as JSON
  kubectl gc unfinalize widget/engine --finalizer billing.example.com/close-account --dry-run=server -o json`,
		RunE:              env.RunE(o, o.validate, runF, run),
		ValidArgsFunction: e.CompleteObjects,
	}
	o.addFlags(cmd)
	return cmd
}

func (o *Options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	o.Objects.AddFlags(o.Env, cmd)
	flags.StringArrayVar(&o.Finalizers, "finalizer", nil, "Name of a finalizer to remove. Can be given several times")
	flags.BoolVar(&o.Force, "force", false,
		"Remove it even if its controller is running or was not found, data can be lost, the cluster can break, or a namespace is not proven to be empty")
	flags.BoolVar(&o.ForceLive, "force-live", false, "Also remove it from objects that are not being deleted")
	flags.BoolVar(&o.AllStuck, "all-stuck", false,
		"Everything in the namespace, or with -A in the cluster, that is being deleted and has the finalizer; with a TYPE, all of that type")
	flags.StringVar(&o.Tree, "tree", "",
		"An object, as TYPE/NAME: it and everything below it that is being deleted and has the finalizer, leaves first")
	flags.BoolVarP(&o.Interactive, "interactive", "i", false,
		"Choose the finalizer in a list on the terminal: Enter shows what is known of one, and r chooses it; then the plan is shown and asked about")
	flags.BoolVar(&o.KeepGoing, "keep-going", false, "Skip objects that are refused or fail, and continue with the others")
	o.AddArchive(cmd, "File to save the objects in before the first write; it must not exist. auto picks one, for restore --last")
	o.AddDryRun(
		cmd, "Must be \"none\", \"client\" or \"server\". client prints the plan; server also sends the first write to each object with dryRun=All")
	o.AddYes(cmd, env.UsageYes)
	o.AddPacks(cmd)
	o.Output.Add(cmd)
	o.CompleteFlag(cmd, "finalizer", o.completeFinalizers)
	o.CompleteFlag(cmd, "tree",
		func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
			return o.CompleteObjects(cmd, []string{"/"}, word) // as after the first TYPE/NAME
		})
}

func (o *Options) validate(cmd *cobra.Command, args []string) error {
	o.Args = args
	if err := o.Objects.Validate(cmd, o.Args); err != nil {
		return err
	}
	files, selects := o.Objects.HasFiles(), strings.TrimSpace(o.Objects.Selector) != ""
	named := files || len(o.Args) > 1 || len(o.Args) == 1 && strings.Contains(o.Args[0], "/")
	bulk := o.AllStuck || o.Tree != "" || selects
	switch {
	case o.AllStuck && (named || selects || o.Tree != ""):
		return env.Usage(
			cmd, "--all-stuck takes no objects, no selector and no --tree: it means everything that is stuck, or all of the types that you name")
	case o.Tree != "" && (len(o.Args) > 0 || files || selects || o.Objects.AllNamespaces):
		return env.Usage(cmd, "--tree takes no other objects, no selector and no -A: it means what is below one object")
	case o.Tree != "" && !strings.Contains(o.Tree, "/"):
		return env.Usage(cmd, "--tree needs an object as TYPE/NAME, and is %q", o.Tree)
	case o.Objects.AllNamespaces && !bulk:
		return env.Usage(cmd, "-A requires -l or --all-stuck")
	case selects && len(o.Args) == 0:
		return env.Usage(cmd, "-l needs the types of the objects")
	case !bulk && !named:
		return env.Usage(
			cmd, "you must specify the objects: TYPE NAME, TYPE/NAME, TYPE -l SELECTOR, --tree TYPE/NAME or --all-stuck")
	case o.Interactive && (len(o.Finalizers) > 0 || o.Yes || o.DryRun != "none" || !o.Output.IsOwn()):
		return env.Usage(cmd, "--interactive does not go with --finalizer, --yes, --dry-run or -o json")
	case o.Interactive && !browse.Possible(o.In, o.Out):
		return env.Usage(cmd, "--interactive needs a terminal")
	case bulk && len(o.Finalizers) == 0 && !o.Interactive:
		return env.Usage(
			cmd, "--finalizer is required with -l, --all-stuck and --tree: nobody is asked about each object of many")
	case slices.Contains(o.Finalizers, ""):
		return env.Usage(cmd, "--finalizer needs the name of a finalizer")
	case slices.Contains(o.Objects.Files.Filenames, "-") && !o.Yes && o.DryRun == "none":
		return env.Usage(cmd, "cannot prompt while reading from standard input (-f -); add --yes or --dry-run=client")
	}
	return cmp.Or(o.CheckDryRun(cmd), o.CheckArchive(cmd, "a removal; drop --dry-run, which removes nothing"),
		o.CheckPacks(), o.Output.Validate(cmd))
}

// completeFinalizers completes the finalizers that the objects named have.
func (o *Options) completeFinalizers(cmd *cobra.Command, args []string, word string) ([]string,
	cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), env.CompletionTimeout)
	defer cancel()
	q, err := o.Query(ctx, &o.Objects, args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := slices.DeleteFunc(unfinalize.Finalizers(ctx, q), func(name string) bool {
		return !strings.HasPrefix(name, word) || slices.Contains(o.Finalizers, name)
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}
