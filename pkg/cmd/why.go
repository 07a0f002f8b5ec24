package cmd

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// whyFlags mirror the flags of kubectl gc why.
type whyFlags struct {
	*common
	roots     rootFlags
	output    *outputFlags
	olderThan time.Duration
	probe     bool
}

func newWhy(c *common) *cobra.Command {
	f := &whyFlags{common: c, output: newOutputFlags("wide", "name"), olderThan: time.Minute}
	cmd := &cobra.Command{
		Use:   "why [TYPE/NAME ... | TYPE NAME ... | TYPE [-l SELECTOR] | -f FILENAME]",
		Short: "Say why something that is being deleted is still there",
		Long: `Say why objects that are being deleted are still there, and what cures it.

Without arguments it looks at everything in the namespace, or in the cluster with -A, that is being deleted for longer than
--older-than. What holds an object is followed to what holds that: a namespace to what is in it, an owner to the dependents
that block it, a definition to its instances, a claim to the pod that uses it and that to its node. Each cause is printed
once, with what was seen, what it holds, and commands that cure it, the least destructive first.

It reads live, and tries with dry runs what a controller would have to write, so that a webhook that is in the way
is named. With --probe it also finds out, where it is the garbage collector's turn, whether that works: it writes a ConfigMap for it
to collect, and takes it away again.

Exit code 2 means that something is stuck, or that not everything could be looked at. What is not being deleted, or whose
deletion goes on, is not stuck.`,
		Example: `  # Why is this namespace still Terminating?
  kubectl gc why namespace/shop

  # Everything in the cluster that has been stuck for an hour
  kubectl gc why -A --older-than 1h

  # It waits for its dependents: does the garbage collector work at all?
  kubectl gc why deployment/web --probe`,
		RunE: func(cmd *cobra.Command, args []string) error {
			selector, err := f.validate(cmd, args)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), selector, args)
		},
		ValidArgsFunction: c.completeObjects,
	}
	f.roots.add(cmd)
	f.output.add(cmd)
	flags := cmd.Flags()
	flags.DurationVar(&f.olderThan, "older-than", f.olderThan, "Look at what is being deleted for longer than this, unless it is named")
	f.addPacks(cmd)
	flags.BoolVar(&f.probe, "probe", false, "Where it is the garbage collector's turn, find out whether it works by a ConfigMap that it has to collect")
	return cmd
}

func (f *whyFlags) validate(cmd *cobra.Command, args []string) (labels.Selector, error) {
	if f.olderThan < 0 {
		return nil, usage(cmd, "--older-than must not be negative")
	}
	selector, err := f.roots.validate(cmd, args)
	if err != nil {
		return nil, err
	}
	if err := f.checkPacks(); err != nil {
		return nil, err
	}
	return selector, f.output.validate(cmd)
}

func (f *whyFlags) run(ctx context.Context, selector labels.Selector, args []string) error {
	known, err := f.known()
	if err != nil {
		return err
	}
	tree := treeFlags{common: f.common, roots: f.roots}
	req, err := tree.request(ctx, selector, args)
	if err != nil {
		return err
	}
	req.scope = f.scope(req)
	g, listed, err := req.list(ctx, f.ErrOut)
	if err != nil {
		return err
	}
	if err := f.namespaceExists(ctx, req, g); err != nil {
		return err
	}
	survey := diagnose.Survey{Catalog: req.catalog, Graph: g, Gaps: listed.Gaps}
	subjects, err := f.subjects(ctx, req, survey)
	if err != nil {
		return err
	}
	opts := diagnose.Options{Known: known, OlderThan: f.olderThan, Probe: f.probe}
	progress := newProgress(f.ErrOut)
	if progress != nil {
		opts.Progress = progress.examined
	}
	d, err := diagnose.Examine(ctx, req.client, survey, subjects, opts)
	progress.done()
	if err != nil {
		return err
	}
	warnGaps(f.ErrOut, d.Gaps)
	if _, err := interruptible(ctx, func() (any, error) { return nil, f.print(d) }); err != nil {
		return err
	}
	return finding(d)
}

func (f *whyFlags) print(d *v1alpha1.Diagnosis) error {
	switch f.output.format() {
	case "", "wide":
		return render.Diagnosis(f.Out, d, time.Now(), f.style(f.output.format() == "wide"))
	case "name":
		return render.DiagnosisNames(f.Out, d)
	}
	return f.output.write(f.Out, d)
}

// unstuck are the causes of what is not stuck: it is not being deleted, or its deletion goes on.
var unstuck = []string{string(diagnose.NotDeleting), string(diagnose.InProgress), string(diagnose.PodTerminating)}

// finding is the answer that something is stuck, which exit code 2 tells.
func finding(d *v1alpha1.Diagnosis) error {
	for _, s := range d.Stuck {
		stuck := func(c v1alpha1.Cause) bool { return !slices.Contains(unstuck, c.Code) }
		if slices.ContainsFunc(s.Causes, stuck) || s.Since != nil && len(s.Causes) == 0 {
			return errFinding
		}
	}
	if !d.Complete {
		return refusal{errors.New("incomplete: not everything could be looked at")}
	}
	return nil
}
