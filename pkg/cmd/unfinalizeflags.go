package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// unfinalizeFlags mirror the flags of kubectl gc unfinalize.
type unfinalizeFlags struct {
	*common
	rootFlags
	output           *outputFlags
	finalizers       []string
	force, forceLive bool
	allStuck         bool
	tree             string
	keepGoing        bool
	archive          string
	dryRun           string
	yes              bool
}

func (f *unfinalizeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.rootFlags.add(cmd)
	flags.StringArrayVar(&f.finalizers, "finalizer", nil, "Name of a finalizer to take off. Can be given several times")
	flags.BoolVar(&f.force, "force", false, "Take it off although who does is alive or was not found, data can be lost, the cluster can break, or a namespace is not proven to be empty")
	flags.BoolVar(&f.forceLive, "force-live", false, "Take it off objects that are not being deleted, too")
	flags.BoolVar(&f.allStuck, "all-stuck", false, "Everything in the namespace, or with -A in the cluster, that is being deleted and has the finalizer")
	flags.StringVar(&f.tree, "tree", "", "An object, as TYPE/NAME: it and everything below it that is being deleted and has the finalizer, leaves first")
	flags.BoolVar(&f.keepGoing, "keep-going", false, "Leave out what is refused or fails, and go on with the others")
	flags.StringVar(&f.archive, "archive", "", "File to save the objects in before the first write; it must not exist")
	flags.StringVar(&f.dryRun, "dry-run", "none", "Must be \"none\", \"client\" or \"server\". client prints the plan; server also sends the first write to each object with dryRun=All")
	flags.Lookup("dry-run").NoOptDefVal = "client"
	flags.BoolVarP(&f.yes, "yes", "y", false, "Do what the plan says without asking; needed where there is no terminal")
	f.addPacks(cmd)
	f.output.add(cmd)
	cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions([]string{"none", "client", "server"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("finalizer", f.completeFinalizers)
	cmd.RegisterFlagCompletionFunc("tree", func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		if !strings.Contains(word, "/") {
			types, directive := f.completeTypes(cmd.Context(), word)
			for i := range types {
				types[i] += "/"
			}
			return types, directive | cobra.ShellCompDirectiveNoSpace
		}
		return f.completeObjects(cmd, nil, word)
	})
}

// unfinalizeRequest is what the flags come to.
type unfinalizeRequest struct {
	args     []string
	selector labels.Selector
	terms    unfinalize.Terms
	bulk     bool
}

// parse checks the flags before anything is asked of the server.
func (f *unfinalizeFlags) parse(cmd *cobra.Command, args []string) (*unfinalizeRequest, error) {
	selector, err := f.rootFlags.validate(cmd, args)
	if err != nil {
		return nil, err
	}
	files := len(f.files.Filenames) > 0 || f.files.Kustomize != ""
	named := files || len(args) > 1 || len(args) == 1 && strings.Contains(args[0], "/")
	r := &unfinalizeRequest{args: args, selector: selector, terms: unfinalize.Terms{Force: f.force, ForceLive: f.forceLive}}
	r.bulk = f.allStuck || f.tree != "" || selector != nil
	switch {
	case f.allStuck && (len(args) > 0 || files || selector != nil || f.tree != ""):
		return nil, usage(cmd, "--all-stuck takes no objects, no selector and no --tree: it means everything that is stuck")
	case f.tree != "" && (len(args) > 0 || files || selector != nil || f.allNamespaces):
		return nil, usage(cmd, "--tree takes no other objects, no selector and no -A: it means what is below one object")
	case f.tree != "" && !strings.Contains(f.tree, "/"):
		return nil, usage(cmd, "--tree needs an object as TYPE/NAME, and is %q", f.tree)
	case f.allNamespaces && !r.bulk:
		return nil, usage(cmd, "-A goes with -l or --all-stuck")
	case selector != nil && len(args) == 0:
		return nil, usage(cmd, "-l needs the types of the objects")
	case !r.bulk && !named:
		return nil, usage(cmd, "you must specify the objects: TYPE NAME, TYPE/NAME, TYPE -l SELECTOR, --tree TYPE/NAME or --all-stuck")
	case r.bulk && len(f.finalizers) == 0:
		return nil, usage(cmd, "--finalizer is required with -l, --all-stuck and --tree: nobody is asked about each object of many")
	case slices.Contains(f.finalizers, ""):
		return nil, usage(cmd, "--finalizer needs the name of a finalizer")
	case !slices.Contains([]string{"none", "client", "server"}, f.dryRun):
		return nil, usage(cmd, "invalid dry-run value (%v). Must be \"none\", \"server\", or \"client\".", f.dryRun)
	case slices.Contains(f.files.Filenames, "-") && !f.yes && f.dryRun == "none":
		return nil, usage(cmd, "-f - leaves no standard input to answer on; add --yes or --dry-run=client")
	}
	if err := checkArchive(cmd, f.archive, f.dryRun, "a removal; drop --dry-run, which takes nothing off"); err != nil {
		return nil, err
	}
	if err := f.checkPacks(); err != nil {
		return nil, err
	}
	return r, f.output.validate(cmd)
}

// completeFinalizers completes the finalizers that the objects named have.
func (f *unfinalizeFlags) completeFinalizers(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	none := cobra.ShellCompDirectiveNoFileComp
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	client, catalog, err := f.catalog(ctx)
	if err != nil || len(args) == 0 {
		return nil, none
	}
	namespace, err := f.namespace()
	if err != nil {
		return nil, none
	}
	r, err := interruptible(ctx, func() (roots, error) {
		return f.rootFlags.resolve(newFreshGetter(f.config, client), catalog, namespace, nil, args)
	})
	if err != nil {
		return nil, none
	}
	var names []string
	for _, o := range r.objects {
		whole, err := client.GetWhole(ctx, o.Type, o.namespace, o.name)
		if err != nil {
			continue
		}
		for _, h := range unfinalize.On(whole) {
			if strings.HasPrefix(h.Name, word) && !slices.Contains(f.finalizers, h.Name) {
				names = append(names, h.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), none
}
