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

// validate checks what was typed before anything is asked of the server.
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
