// Package explain is the command kubectl gc explain.
package explain

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Options are the flags and arguments of kubectl gc explain.
type Options struct {
	*env.Env
	Output *env.Output
	// Args are the names of finalizers.
	Args      []string
	Component string
	All       bool
	InCluster bool
	// TestPack is a folder with packs and objects.
	TestPack string
}

// New returns the command explain, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Env: e, Output: env.NewOutput(e, "wide", "name")}
	cmd := &cobra.Command{
		Use:        "explain FINALIZER ... | --component NAME | -A | --in-cluster | --test-pack DIR",
		Short:      "Explain what finalizers do and who removes them",
		SuggestFor: []string{"describe"},
		Long: `Explain finalizers: which program removes them and how to find it, what it does first, what
leaks or is lost if you remove them by hand, what to do before, and the source of this
information.

No cluster is needed. With --in-cluster, kubectl gc explain lists the metadata of all objects in
the cluster and shows the finalizers that they have, with the number of objects, including
unknown finalizers. The spec.finalizers of namespaces are not included.

The information comes from packs: those that are part of kubectl gc, your own, and those of
--packs. See docs/packs.md.

With --test-pack, kubectl gc explain shows which links the packs of a directory, and those above,
find in the objects of its subdirectory objects, and what a deletion does along each. If the
directory has a file links.txt, the links are compared with it.

Exit code 1 means that a finalizer or a component is unknown; 2 means that with --in-cluster not
everything could be listed, or that with --test-pack the links are not those of links.txt, or an
object could not be understood.`,
		Example: `  # What happens to the machine if I remove this finalizer?
  kubectl gc explain karpenter.sh/termination

  # All finalizers of Flux
  kubectl gc explain --component flux

  # List all known finalizers
  kubectl gc explain -A

  # Which finalizers does this cluster have, and which of them are unknown?
  kubectl gc explain --in-cluster

  # Does my pack find the links of the objects in my-pack/objects?
  kubectl gc explain --test-pack my-pack`,
		RunE:              env.RunE(o, o.validate, runF, run),
		ValidArgsFunction: o.completeFinalizers,
	}
	o.Output.Add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.Component, "component", "", "Show only finalizers of components whose name contains this")
	flags.BoolVarP(&o.All, "all", "A", false, "List all known finalizers")
	flags.BoolVar(&o.InCluster, "in-cluster", false,
		"List the finalizers of the objects in the cluster, with the number of objects")
	flags.StringVar(&o.TestPack, "test-pack", "",
		"Directory with packs (*.yaml) whose links are tested against objects/*.yaml and links.txt in it")
	cmd.MarkFlagDirname("test-pack")
	o.AddPacks(cmd)
	e.CompleteFlag(cmd, "component", o.completeComponents)
	return cmd
}

func (o *Options) validate(cmd *cobra.Command, args []string) error {
	o.Args = args
	switch {
	case o.TestPack != "" && (len(o.Args) > 0 || o.Component != "" || o.All || o.InCluster):
		return env.Usage(cmd, "--test-pack cannot be used together with finalizers, --component, -A or --in-cluster")
	case o.TestPack != "" && (o.Output.Format() == "name" || o.Output.Wide()):
		return env.Usage(cmd, "--test-pack cannot be used together with -o %s", o.Output.Format())
	case o.TestPack != "":
	case len(o.Args) == 0 && o.Component == "" && !o.All && !o.InCluster:
		return env.Usage(cmd, "name a finalizer, or use --component, -A, --in-cluster or --test-pack")
	case len(o.Args) > 0 && o.All:
		return env.Usage(cmd, "finalizers cannot be named together with -A")
	case o.All && o.InCluster:
		return env.Usage(cmd, "-A and --in-cluster cannot be used together")
	}
	return cmp.Or(o.CheckPacks(), o.Output.Validate(cmd))
}

func run(ctx context.Context, o *Options) error {
	known, err := o.Known()
	if err != nil {
		return err
	}
	if o.TestPack != "" {
		test, err := explain.PackLinks(o.TestPack, known)
		if err != nil {
			return err
		}
		return o.testPack(ctx, test)
	}
	question := explain.Question{Known: known, Names: o.Args, Component: o.Component}
	if o.InCluster {
		return o.inCluster(ctx, question)
	}
	e, unknown := explain.Known(question)
	if e == nil {
		return unknown
	}
	return errors.Join(o.Print(ctx, func() error { return o.print(e) }), unknown)
}

func (o *Options) inCluster(ctx context.Context, question explain.Question) error {
	query, err := o.Query(ctx, &env.Objects{AllNamespaces: true}, nil)
	if err != nil {
		return err
	}
	if err := question.Check(); err != nil {
		return err
	}
	listed, err := query.List(ctx)
	if err != nil {
		return err
	}
	e := explain.Present(listed.Graph, listed.Gaps, question)
	render.WarnGaps(o.ErrOut, e.Gaps)
	if err := o.Print(ctx, func() error { return o.print(e) }); err != nil {
		return err
	}
	if !e.Complete {
		return answer.Refuse(errors.New("incomplete: finalizers of types that could not be listed are not shown"))
	}
	return nil
}

func (o *Options) print(e *v1alpha1.Explanation) error {
	style := o.Style(o.Output)
	switch {
	case o.Output.Format() == "name":
		return render.ExplanationNames(o.Out, e)
	case !o.Output.IsOwn():
		return o.Output.Write(o.Out, e)
	case o.InCluster:
		return render.FinalizersPresent(o.Out, e, style)
	case o.All:
		return render.FinalizersKnown(o.Out, e, style)
	}
	return render.Explanation(o.Out, e, style)
}
