// Package check is the command kubectl gc check.
package check

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Options are the flags and arguments of kubectl gc check.
type Options struct {
	env.Mutation // for Fix
	Objects      env.Objects
	Args         []string
	// Severity is that from which on a finding makes the exit code 2.
	Severity string
	// ExitZero makes the exit code 0 whatever is found.
	ExitZero bool
	// Finalizers reports whether whoever removes the finalizers is looked for.
	Finalizers bool
	// Local checks files without a server.
	Local bool
	// Fix removes references to absent owners.
	Fix bool
}

// New returns the command check, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Mutation: env.NewMutation(e, "wide", "name", "junit", "sarif", "prometheus"),
		Severity: string(check.Error), Finalizers: true}
	o.Output.WithRows()
	cmd := &cobra.Command{
		Use:        "check [TYPE/NAME ... | TYPE NAME ... | TYPE [-l SELECTOR] | -f FILENAME]",
		Short:      "Find wrong owner references, and what the collector makes of them",
		SuggestFor: []string{"lint", "validate", "verify"},
		Long: `Check the ownerReferences of objects against the cluster.

Without arguments, kubectl gc check checks all objects in the namespace, or in the cluster with -A.
It finds owners that do not exist or were created again, references with a wrong name, kind,
version or namespace, cluster-scoped objects with namespaced owners, cycles, and references that
block an owner forever. It also finds objects in namespaces that do not exist, and finalizers
whose controller was not found or is not running. For each it says what the garbage collector does
about it and how to correct it; -o wide prints the commands.

An owner is absent only if a live read says so. If a type cannot be listed or an owner cannot be
read, its state is unknown.

With -f, kubectl gc check checks manifests before they are applied. Their owners are read from the
cluster; with --local nothing is asked of a server, and only what the files show is checked.

With --fix, kubectl gc check removes references to owners that do not exist, from objects that
another owner keeps: the garbage collector would remove the same references. It prints the plan,
asks, and decides again about each object on live reads right before it writes. Other findings
are left unchanged. No object is deleted.

Exit code 2 means that something of --severity or worse was found, or that not everything could be
checked; with --fix, that such findings remain.`,
		Example: `  # What is wrong in the cluster?
  kubectl gc check -A

  # Fail a pipeline on warnings too, and leave a report for it
  kubectl gc check -A --severity=warning -o junit > report.xml

  # Remove references to owners that do not exist
  kubectl gc check -n shop --fix

  # Check manifests without a cluster
  kubectl gc check -f manifests/ --local`,
		RunE:              env.RunE(o, o.validate, runF, run),
		ValidArgsFunction: e.CompleteObjects,
	}
	o.Objects.AddFlags(o.Env, cmd)
	cmd.Flags().Lookup("filename").Usage = "Filename, directory, or URL to files with manifests to check"
	o.Output.Add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.Severity, "severity", o.Severity,
		"Exit with code 2 on findings of this severity or worse: error, warning or info")
	env.AddExitZero(cmd, &o.ExitZero)
	flags.BoolVar(&o.Finalizers, "finalizers", o.Finalizers, "Also look for the controllers that remove finalizers")
	flags.BoolVar(&o.Local, "local", false, "If true, check the files of -f without asking a server")
	o.addFixFlags(cmd)
	o.AddPacks(cmd)
	e.CompleteFlag(cmd, "severity", cobra.FixedCompletions(severities(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func severities() []string {
	return phrase.Words(check.Severities, func(s check.Severity) string { return string(s) })
}

func (o *Options) validate(cmd *cobra.Command, args []string) error {
	o.Args = args
	switch {
	case !slices.Contains(severities(), o.Severity):
		return env.Usage(cmd, "--severity must be %s, not %q", strings.Join(severities(), ", "), o.Severity)
	case o.Local && !o.Objects.HasFiles():
		return env.Usage(cmd, "--local requires -f or -k")
	case o.Objects.HasFiles() && o.Objects.AllNamespaces:
		return env.Usage(cmd, "-A cannot be used together with -f or -k")
	}
	return cmp.Or(o.Objects.Validate(cmd, o.Args), o.validateFix(cmd), o.CheckPacks(), o.Output.Validate(cmd))
}

func run(ctx context.Context, o *Options) error {
	report, q, err := o.report(ctx)
	if err != nil {
		return err
	}
	render.WarnGaps(o.ErrOut, report.Gaps)
	o.PastedFindings(report.Findings)
	if o.Fix {
		return o.fix(ctx, q, report)
	}
	if err := o.Print(ctx, func() error { return o.print(report) }); err != nil {
		return err
	}
	return o.finding(report)
}

// finding is the answer to whether something was found, for the exit code.
func (o *Options) finding(report *v1alpha1.CheckReport) error {
	return o.Answer(check.Finding(report, check.Severity(o.Severity)), o.ExitZero)
}

// report checks the files, or what is in the cluster; then it also returns what was asked of that.
func (o *Options) report(ctx context.Context) (*v1alpha1.CheckReport, *selection.Query, error) {
	if o.Objects.HasFiles() {
		report, err := o.manifests(ctx)
		return report, nil, err
	}
	links, err := o.Links()
	if err != nil {
		return nil, nil, err
	}
	opts := check.Options{Links: links}
	if o.Finalizers {
		if opts.Known, err = o.Known(); err != nil {
			return nil, nil, err
		}
	}
	q, err := o.Query(ctx, &o.Objects, o.Args)
	if err != nil {
		return nil, nil, err
	}
	report, err := check.Run(ctx, q, opts)
	return report, q, err
}

func (o *Options) print(report *v1alpha1.CheckReport) error {
	least := check.Severity(o.Severity)
	switch o.Output.Format() {
	case "", "wide":
		return render.Check(o.Out, report, o.Style(o.Output))
	case "name":
		return render.CheckNames(o.Out, report, least)
	case "junit":
		return render.JUnit(o.Out, report, least)
	case "sarif":
		return render.CheckSARIF(o.Out, report)
	case "prometheus":
		o.Output.Of(report)
		return render.CheckMetrics(o.Out, report, o.Now())
	}
	return o.Output.Write(o.Out, report)
}

// manifests checks what is in the files.
func (o *Options) manifests(ctx context.Context) (*v1alpha1.CheckReport, error) {
	all, err := selection.Manifests(ctx, o.Objects.Files)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 { // as of a template that failed: a check of nothing passes everything
		return nil, errors.New("no objects found in the files: check that the manifests were rendered")
	}
	namespace, err := o.Namespace()
	if err != nil {
		return nil, err
	}
	if o.Local {
		return check.Local(all, namespace), nil
	}
	client, catalog, err := o.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return check.Manifests(ctx, client, catalog, all, namespace)
}
