// Package tree is the command kubectl gc tree.
package tree

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
)

// Options are the flags and arguments of kubectl gc tree.
type Options struct {
	*env.Env
	Objects env.Objects
	Output  *env.Output
	Args    []string
	Owners  bool
	// Depth is negative for all levels.
	Depth          int
	Types, Exclude []string
	// FollowLinks is the value of --links.
	FollowLinks, Watch bool
	// ShowLabels adds a column with the labels.
	ShowLabels bool
	// Sums is the value of --sum.
	Sums bool
	// Against is the value of --against: a dump that what is there is compared with.
	Against string
}

// New returns the command tree, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Env: e, Output: env.NewOutput(e, "wide", "name", "dot", "mermaid", "html"), Depth: -1, FollowLinks: true}
	cmd := &cobra.Command{
		Use:        "tree [TYPE/NAME ... | TYPE NAME ... | TYPE [-l SELECTOR] | -f FILENAME]",
		Short:      "Show objects and their dependents as a tree",
		SuggestFor: []string{"graph", "show", "list", "ls", "owners", "dependents"},
		Long: `Show objects and their dependents as a tree. Dependents can be of any type, namespaced or
cluster-scoped.

Without arguments, kubectl gc tree shows all objects in the namespace, or in the cluster with
-A. An object with several owners is expanded under the first one and marked under the others.
An owner that a reference names and that was not listed has a row of its own: its state is
Absent if its type was listed completely, and Unknown if it was not. Types that could not be
listed are gaps: they are printed to stderr and included in the JSON.

A dotted branch leads to an object without an ownerReference: an instance of a CRD,
the content of a namespace, or what another object names in its content. The link of the pack
that says so is in parentheses, as in (link:composite); -o wide prints it under EDGE.

STATE is the STATUS column of kubectl get, if the type has one. For an object that is being
deleted it is Deleting, with the time since its deletionTimestamp. Of a custom resource it
also names the condition that fails, as in "Synced: ReconcileError".

A table shows at most 60 levels, or as many as fit half the width of the terminal, and counts
the objects below them. Other formats show all levels.

With --sum, each row says what is deleted with it. >= and ? mean that not everything could be
listed or read.

-o html prints one page that needs no network: open it in a browser to search, collapse and
zoom. It also has what is known of each finalizer, and why objects still exist that are being
deleted.

With --against, kubectl gc tree shows what has changed since a snapshot or another dump, instead of
a tree: which objects were deleted, and with which owner, namespace or CustomResourceDefinition;
which were created; and which have other owners or finalizers, or are being deleted. With --from,
it compares two dumps.`,
		Example: `  # What does a deployment own?
  kubectl gc tree deployment/web

  # Everything in a namespace, with the edges and the owners
  kubectl gc tree -n shop -o wide

  # Who owns this pod?
  kubectl gc tree pod web-5d9c-x2x --owners

  # Every tree in the cluster, as JSON
  kubectl gc tree -A -o json

  # A custom resource definition and its instances, without the rows of secrets and config maps
  kubectl gc tree crd widgets.example.com --exclude-types secrets,configmaps

  # Two columns of your own, for a script
  kubectl gc tree deployment/web --no-headers -o custom-columns=KIND:.ref.kind,NAME:.ref.name

  # What has changed since a snapshot was taken, and between two?
  kubectl gc tree -n shop --against monday.snapshot
  kubectl gc tree -n shop --from tuesday.snapshot --against monday.snapshot

  # What is all this, and what would deleting each give back?
  kubectl gc tree ns/shop --sum

  # Draw it
  kubectl gc tree deployment/web -o dot | dot -Tsvg > web.svg

  # A page for the browser
  kubectl gc tree -n shop -o html > shop.html`,
		RunE:              env.RunE(o, o.validate, runF, run),
		ValidArgsFunction: e.CompleteObjects,
	}
	o.Objects.AddFlags(o.Env, cmd)
	o.Output.Add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&o.Owners, "owners", false, "Show the owners of the objects instead of their dependents")
	flags.IntVar(&o.Depth, "depth", o.Depth,
		"Number of levels to show below the named objects; a negative number shows all")
	flags.StringSliceVar(&o.Types, "types", nil,
		"Show only objects of these types: names, short names, kinds or groups, as glob patterns")
	flags.StringSliceVar(&o.Exclude, "exclude-types", nil, "Do not show objects of these types")
	flags.BoolVar(&o.FollowLinks, "links", o.FollowLinks,
		"Also show dependents without an ownerReference: the instances of a CRD, the content of a namespace, what links of packs say")
	e.AddPacks(cmd)
	flags.BoolVar(&o.ShowLabels, "show-labels", false, "Show the labels of the objects as the last column of the table")
	flags.BoolVar(&o.Sums, "sum", false,
		"Show how many objects go with each one when it alone is deleted, what their pods request and the storage that their PVCs do, largest first")
	flags.BoolVarP(&o.Watch, "watch", "w", false, "After showing the tree, watch for changes and show it again")
	flags.StringVar(&o.Against, "against", "",
		"Show what was deleted, created or changed since this snapshot or dump, instead of a tree")
	e.CompleteFlag(cmd, "types", e.CompleteTypeList)
	e.CompleteFlag(cmd, "exclude-types", e.CompleteTypeList)
	return cmd
}

func (o *Options) validate(cmd *cobra.Command, args []string) error {
	o.Args = args
	if err := cmp.Or(o.Objects.Validate(cmd, o.Args), o.CheckPacks()); err != nil {
		return err
	}
	switch {
	case o.Owners && !o.Objects.Named(o.Args):
		return env.Usage(cmd, "--owners requires an object: TYPE/NAME, a selector or -f FILENAME")
	case o.Sums && (o.Owners || o.Watch || o.Against != ""):
		return env.Usage(cmd, "--sum cannot be used together with --owners, --watch or --against")
	case o.Sums && slices.Contains([]string{"name", "dot", "mermaid", "html"}, o.Output.Format()):
		return env.Usage(cmd, "--sum cannot be used together with -o %s", o.Output.Format())
	case o.ShowLabels && o.Output.Format() != "" && !o.Output.Wide():
		return env.Usage(cmd, "--show-labels adds a column to the table, and cannot be used together with -o %s",
			o.Output.Format())
	case o.Watch && (!o.Output.IsOwn() || o.Output.Format() == "html"):
		return env.Usage(cmd, "--watch cannot be used together with -o %s", o.Output.Format())
	}
	return cmp.Or(o.validateAgainst(cmd), o.Output.Validate(cmd))
}

// validateAgainst refuses what has no meaning for a comparison.
func (o *Options) validateAgainst(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("against") {
		return nil
	}
	for _, name := range []string{"owners", "depth", "types", "exclude-types", "links", "watch", "show-labels"} {
		if cmd.Flags().Changed(name) {
			return env.Usage(cmd, "--against cannot be used together with --%s", name)
		}
	}
	switch {
	case o.Against == "":
		return env.Usage(cmd, "--against needs a snapshot, or another file or folder that --from takes")
	case o.Objects.Named(o.Args):
		return env.Usage(cmd, "--against compares a namespace, or all with -A, and takes no objects")
	case o.Against == "-" && o.From == "-":
		return env.Usage(cmd, "standard input cannot be read twice: --from and --against are both -")
	case o.Output.IsOwn() && o.Output.Format() != "" && !o.Output.Wide():
		return env.Usage(cmd, "--against cannot be used together with -o %s", o.Output.Format())
	}
	return nil
}
