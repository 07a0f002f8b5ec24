package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// explainFlags mirror the flags of kubectl gc explain.
type explainFlags struct {
	*common
	output    *outputFlags
	component string
	all       bool
	inCluster bool
}

func newExplain(c *common) *cobra.Command {
	f := &explainFlags{common: c, output: newOutputFlags("wide", "name")}
	cmd := &cobra.Command{
		Use:   "explain FINALIZER ... | --component NAME | -A | --in-cluster",
		Short: "Say what is known of finalizers",
		Long: `Say what is known of finalizers: who removes them and how that program is found, what it does before, what is lost or leaks when
they are removed by hand, what to do first, and where that was read.

It needs no cluster. With --in-cluster it lists the metadata of everything in the cluster, and shows the finalizers that
are present, with the number of objects that have them, those that nothing is known of too. The spec.finalizers of
namespaces are not among them.

The knowledge is in packs: those that come with kubectl gc, your own, and those of --packs. See docs/packs.md.

Exit code 1 means that nothing is known of a finalizer, or of a component; 2 that with --in-cluster not everything could be listed.`,
		Example: `  # What happens to the machine if I remove this?
  kubectl gc explain karpenter.sh/termination

  # All finalizers of Flux
  kubectl gc explain --component flux

  # All that is known, as a list
  kubectl gc explain -A

  # Which finalizers are there in this cluster, and which of them does nobody know?
  kubectl gc explain --in-cluster`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.validate(cmd, args); err != nil {
				return err
			}
			return f.run(cmd.Context(), args)
		},
		ValidArgsFunction: f.completeFinalizers,
	}
	f.output.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.component, "component", "", "Only finalizers that this program removes, or one whose name has this in it")
	flags.BoolVarP(&f.all, "all", "A", false, "List all finalizers that are known")
	flags.BoolVar(&f.inCluster, "in-cluster", false, "List the finalizers that are present in the cluster, with the number of objects that have them")
	f.addPacks(cmd)
	cmd.RegisterFlagCompletionFunc("component", f.completeComponents)
	return cmd
}

func (f *explainFlags) validate(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 && f.component == "" && !f.all && !f.inCluster:
		return usage(cmd, "name a finalizer, or use --component, -A or --in-cluster")
	case len(args) > 0 && f.all:
		return usage(cmd, "finalizers cannot be named together with -A")
	case f.all && f.inCluster:
		return usage(cmd, "-A lists what is known and --in-cluster what is present: use one of them")
	}
	if err := f.checkPacks(); err != nil {
		return err
	}
	return f.output.validate(cmd)
}

func (f *explainFlags) run(ctx context.Context, args []string) error {
	known, err := f.known()
	if err != nil {
		return err
	}
	if f.inCluster {
		return f.runInCluster(ctx, known, args)
	}
	found, unknown := f.find(known, args)
	if len(found) == 0 {
		return unknown
	}
	e := &v1alpha1.Explanation{TypeMeta: v1alpha1.TypeMeta("Explanation"), Finalizers: found, Complete: true, Gaps: []v1alpha1.Gap{}}
	_, err = interruptible(ctx, func() (any, error) { return nil, f.print(e) })
	return errors.Join(err, unknown)
}

func (f *explainFlags) print(e *v1alpha1.Explanation) error {
	style := f.style(f.output.format() == "wide")
	switch {
	case f.output.format() == "name":
		return render.ExplanationNames(f.Out, e)
	case !f.output.isOwn():
		return f.output.write(f.Out, e)
	case f.inCluster:
		return render.FinalizersPresent(f.Out, e, style)
	case f.all:
		return render.FinalizersKnown(f.Out, e, style)
	}
	return render.Explanation(f.Out, e, style)
}
