// Package why is the command kubectl gc why.
package why

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/browse"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Options are the flags and arguments of kubectl gc why.
type Options struct {
	*env.Env
	Objects env.Objects
	Output  *env.Output
	Args    []string
	// OlderThan is for how long at least something that was not named has been being deleted.
	OlderThan time.Duration
	Probe     bool
	// NoDryRun sends no dry runs.
	NoDryRun bool
	// Interactive shows the causes as a list, in which one can be opened and its remedy begun.
	Interactive bool
	// ExitZero makes the exit code 0 whatever is stuck.
	ExitZero bool
}

// New returns the command why, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Env: e, Output: env.NewOutput(e, "wide", "name", "prometheus").WithRows(), OlderThan: time.Minute}
	cmd := &cobra.Command{
		Use:        "why [TYPE/NAME ... | TYPE NAME ... | TYPE [-l SELECTOR] | -f FILENAME]",
		Short:      "Explain why a deletion is stuck",
		SuggestFor: []string{"diagnose", "stuck", "debug"},
		Long: `Explain why objects that are being deleted still exist, and how to fix it.

Without arguments, kubectl gc why examines all objects in the namespace, or in the cluster with
-A, whose deletion began more than --older-than ago. It follows what blocks an object to the
root cause: from a namespace to its content, from an owner to the dependents that block it, from
a CRD to its instances, from a PVC to the pod that uses it and to that pod's node, and from a claim
of Crossplane, a Cluster of Cluster API or an Application of Argo CD to what its controller deletes
first. Each cause is printed once, with the evidence, the objects that it blocks, and commands that
fix it, the least destructive first.

All objects are read live. Dry runs of the writes that a controller would send find out whether
a webhook or a policy rejects them. The API server calls the webhooks for a dry run too, of which
some write nevertheless: where one is known to, no dry run is sent, and -v=1 prints which webhooks
the others can have called. With --no-dry-run none is sent: then it is not known whether a webhook,
a policy or the validation of the object rejects what a controller would write. With --probe,
kubectl gc why also checks that the garbage collector works: it creates a ConfigMap for the
collector to delete, and deletes it again.

Exit code 2 means that a deletion is stuck, or that not everything could be examined. An object
that is not being deleted, or whose deletion makes progress, is not stuck.`,
		Example: `  # Why is this namespace still Terminating?
  kubectl gc why namespace/shop

  # Go through the causes on a terminal, and run the first step of a remedy
  kubectl gc why -n shop -i

  # Everything in the cluster that has been stuck for an hour
  kubectl gc why -A --older-than 1h

  # Is anything stuck in one of all clusters?
  kubectl gc why -A --contexts '*'

  # Metrics for a textfile collector
  kubectl gc why -A -o prometheus --exit-zero > kubectl-gc.prom

  # It waits for its dependents. Does the garbage collector work?
  kubectl gc why deployment/web --probe`,
		RunE:              env.RunE(o, o.validate, runF, run),
		ValidArgsFunction: e.CompleteObjects,
	}
	o.Objects.AddFlags(o.Env, cmd)
	o.Output.Add(cmd)
	flags := cmd.Flags()
	flags.DurationVar(&o.OlderThan, "older-than", o.OlderThan,
		"Examine only objects whose deletion began longer ago than this, unless they are named")
	env.AddExitZero(cmd, &o.ExitZero)
	o.AddPacks(cmd)
	flags.BoolVar(&o.NoDryRun, "no-dry-run", false,
		"Send no dry runs, which call webhooks; whether the server would reject a write is then not known")
	flags.BoolVarP(&o.Interactive, "interactive", "i", false,
		"Show the causes as a list on the terminal: Enter shows one, and r runs the first step of its remedy, after a question")
	flags.BoolVar(&o.Probe, "probe", false,
		"Check that the garbage collector works, by creating a ConfigMap that it has to delete")
	return cmd
}

func (o *Options) validate(cmd *cobra.Command, args []string) error {
	o.Args = args
	if o.OlderThan < 0 {
		return env.Usage(cmd, "--older-than must not be negative")
	}
	if err := cmp.Or(o.Objects.Validate(cmd, o.Args), o.CheckPacks(), o.Output.Validate(cmd)); err != nil ||
		!o.Interactive {
		return err
	}
	switch format := o.Output.Format(); {
	case format != "" && format != "wide":
		return env.Usage(cmd, "--interactive does not go with -o %s", format)
	case !browse.Possible(o.In, o.Out):
		return env.Usage(cmd, "--interactive needs a terminal")
	}
	return nil
}

func run(ctx context.Context, o *Options) error {
	d, err := o.examine(ctx)
	if err != nil {
		return err
	}
	if o.Interactive {
		d, err = o.browse(ctx, d)
	} else {
		err = o.Print(ctx, func() error { return o.print(d) })
	}
	if err != nil {
		return err
	}
	return o.Answer(diagnose.Finding(d), o.ExitZero)
}

// examine finds out why what is meant is still there.
func (o *Options) examine(ctx context.Context) (*v1alpha1.Diagnosis, error) {
	known, err := o.Known()
	if err != nil {
		return nil, err
	}
	q, err := o.Query(ctx, &o.Objects, o.Args)
	if err != nil {
		return nil, err
	}
	progress := render.NewProgress(o.ErrOut)
	d, err := diagnose.Why(ctx, q,
		diagnose.Options{Known: known, OlderThan: o.OlderThan, Probe: o.Probe, NoDryRun: o.NoDryRun,
			Progress: progress.Examined})
	progress.Done()
	o.SayCalled(ctx, q.Client, q.Catalog)
	if err != nil {
		return nil, err
	}
	o.Pasted(d.Stuck)
	render.WarnGaps(o.ErrOut, d.Gaps)
	return d, nil
}

func (o *Options) print(d *v1alpha1.Diagnosis) error {
	switch o.Output.Format() {
	case "", "wide":
		return render.Diagnosis(o.Out, d, o.Now(), o.Style(o.Output))
	case "name":
		return render.DiagnosisNames(o.Out, d)
	case "prometheus":
		o.Output.Of(d)
		return render.DiagnosisMetrics(o.Out, d, o.Now())
	}
	return o.Output.Write(o.Out, d)
}
