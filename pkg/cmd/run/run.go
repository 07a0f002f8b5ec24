// Package run is the command kubectl gc run.
package run

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Options are the flags of kubectl gc run.
type Options struct {
	env.Mutation
	Once          bool
	AllNamespaces bool
	// Namespaced says that -n was given, so that only its namespace is written to.
	Namespaced  bool
	Types       []string
	Selector    string
	Wait, Watch bool
	// Timeout bounds Wait; zero means a week.
	Timeout                                           time.Duration
	MaxDeletes                                        int
	AllowMass, HoldMismatched, BreakDeadlocks, Events bool
	// Gone are kinds to take for absent, as GROUP/VERSION/KIND.
	Gone []string

	// examine finds out what --fail-on needs to know of a plan, and examined is what it has found
	// out of the plan that was judged last.
	examine  func(context.Context, *plan.Plan) (deletion.Examined, error)
	examined deletion.Examined
}

// New returns the command run, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Mutation: env.NewMutation(e, "wide", "name", "sarif"), Once: true}
	o.Output.WithRows()
	cmd := &cobra.Command{
		Use:        "run",
		Short:      "Run the garbage collector's loop once, from here",
		SuggestFor: []string{"collect", "sweep"},
		Long: `Do what the cluster's garbage collector would do, until it has nothing left to do.

It lists everything that can be deleted and finds objects whose owners are absent, objects that
their owners wait for, and objects to orphan. It prints the plan, asks, and performs it by the
collector's rules: it deletes objects, removes owner references, and removes the collector's own
finalizers. Use it if the collector is off, stuck or behind, or on a control plane that has
none. Next to a working collector it does no harm and finds nothing to do.

An owner is absent only if a live read says so, never because a list does not show it. If a type
cannot be listed or an owner cannot be read, its dependents are kept. Every write carries the
uid and the resourceVersion that the decision rests on. A finalizer of the collector is removed
only if no dependent can be hidden in a gap.

It performs the plan and nothing else. Before each pass it plans again. If the plan has grown
since you agreed to it, it shows the new one and asks again; with --yes, or without a terminal,
it stops. With --watch, --yes agrees to everything that comes up.

--archive FILE saves all objects that the plan deletes or changes, whole, before the first write.
Objects that are not in the file, because the plan has grown, and objects that were changed since
are left alone. kubectl gc restore recreates what a file contains.

--fail-on refuses a plan, the first and each that has grown, that has what it names, as that of
kubectl gc delete does. For that, what the plan deletes is read.

It refuses a pass if most owners of a kind are absent at once, as after a backup was restored;
--allow-mass-collection collects their dependents too. With --watch such a pass is reported and
skipped.

Exit code 2 means that the run was refused, that something could not be listed or read, or that
objects were left after --timeout.`,
		Example: `  # Show what there is to collect in the whole cluster
  kubectl gc run --dry-run

  # Collect in one namespace
  kubectl gc run -n shop

  # Keep a copy of everything that is collected
  kubectl gc run -n shop --archive shop.yaml.gz

  # In a pipeline: say what would be collected, and fail if data would be lost
  kubectl gc run --dry-run --fail-on=data-loss,gaps

  # Be the collector of a control plane that has none, until Ctrl-C
  kubectl gc run --yes --watch`,
		RunE: env.RunE(o, o.validate, runF, run),
	}
	o.addFlags(cmd)
	return cmd
}

func (o *Options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&o.Once, "once", o.Once, "Exit when nothing is left to do. This is the default; see --watch")
	flags.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false,
		"Collect in the whole cluster. This is the default; see -n")
	flags.StringSliceVar(&o.Types, "types", nil,
		"Write only to objects of these types: globs of names, short names, kinds or groups")
	flags.StringVarP(&o.Selector, "selector", "l", "", "Write only to objects whose labels match the selector")
	flags.StringVar(&o.DryRun, "dry-run", o.DryRun,
		"Must be \"none\" or \"client\". client prints the plan and writes nothing")
	flags.Lookup("dry-run").NoOptDefVal = "client"
	o.AddYes(cmd, "Perform the plan without asking; required without a terminal. With --watch, also collect what comes up later")
	flags.BoolVar(&o.Wait, "wait", false,
		"Wait until other controllers have removed their finalizers, and collect what that releases")
	flags.DurationVar(&o.Timeout, "timeout", 0, "Length of time to wait with --wait before giving up, zero means a week")
	flags.BoolVarP(&o.Watch, "watch", "w", false, "After the first run keep collecting until interrupted")
	flags.IntVar(&o.MaxDeletes, "max-deletes", 0,
		"Refuse to delete more objects than this in total, zero means any number")
	flags.BoolVar(&o.AllowMass, "allow-mass-collection", false,
		"Collect even if most owners of a kind are absent at once, as after a backup was restored")
	flags.BoolVar(&o.HoldMismatched, "hold-mismatched", false,
		"Keep objects whose owner is alive under another name, kind or namespace than their reference says; the cluster's collector deletes them")
	flags.BoolVar(&o.BreakDeadlocks, "break-deadlocks", false,
		"Set blockOwnerDeletion to false on a reference in cycles whose members all wait for each other; the cluster's collector waits forever")
	flags.StringSliceVar(&o.Gone, "treat-kind-as-gone", nil,
		"Treat the objects of a kind that is no longer served as absent, as GROUP/VERSION/KIND; the cluster's collector keeps their dependents forever")
	flags.BoolVar(&o.Events, "events", false,
		"Write the event OwnerRefInvalidNamespace about each reference to an owner in another namespace, as the cluster's collector does")
	o.AddArchive(
		cmd, "File to save the objects of the plan in before the first write; it must not exist. If its name ends in .gz, it is compressed. auto picks one, for restore --last")
	o.AddFailOn(cmd, render.RunGates())
	o.Output.Add(cmd)
	o.CompleteFlag(cmd, "types", o.CompleteTypeList)
	o.CompleteFlag(cmd, "dry-run",
		cobra.FixedCompletions([]string{"none", "client"}, cobra.ShellCompDirectiveNoFileComp))
	o.CompleteFlag(cmd, "selector", cobra.NoFileCompletions)
}

func (o *Options) validate(cmd *cobra.Command, args []string) error {
	o.Namespaced = cmd.Flags().Changed("namespace")
	dry := o.DryRun != "none"
	switch {
	case len(args) > 0:
		return env.Usage(cmd, "run takes no arguments; use -n, --types and -l to restrict what it may write to")
	case o.AllNamespaces && o.Namespaced:
		return env.Usage(cmd, "-n and -A cannot be used together")
	case !o.Once && !o.Watch:
		return env.Usage(cmd, "--once=false requires --watch")
	case o.DryRun == "server":
		return env.Usage(
			cmd, "--dry-run=server is not supported: a dry run on the server does not show what follows from a write; use --dry-run=client")
	case dry && o.DryRun != "client":
		return env.Usage(cmd, "invalid dry-run value (%v): must be \"none\" or \"client\"", o.DryRun)
	case !dry && (o.Output.HasRows() || o.Output.Format() == "sarif"):
		return env.Usage(cmd, "-o %s is of what would be done; add --dry-run=client", o.Output.Format())
	case dry && (o.Watch || o.Wait):
		return env.Usage(cmd, "--dry-run cannot be used together with --wait or --watch")
	case dry && o.Events:
		return env.Usage(cmd, "--dry-run cannot be used together with --events")
	case o.Watch && o.Wait:
		return env.Usage(cmd, "--watch cannot be used together with --wait")
	case o.Timeout < 0:
		return env.Usage(cmd, "--timeout must not be negative")
	case o.Timeout > 0 && !o.Wait:
		return env.Usage(cmd, "--timeout requires --wait")
	case o.MaxDeletes < 0:
		return env.Usage(cmd, "--max-deletes must not be negative")
	case o.Watch && cmd.Flags().Changed("archive"):
		return env.Usage(
			cmd, "--archive cannot be used together with --watch: what comes up later would not be in the archive")
	case o.Watch && !o.Output.IsOwn():
		return env.Usage(cmd, "--watch cannot be used together with -o %s", o.Output.Format())
	}
	if !o.Watch { // which the environment cannot turn into a run with an archive
		if err := o.CheckArchive(cmd, "a run that writes; remove --dry-run"); err != nil {
			return err
		}
	}
	if err := o.CheckFailOn(cmd, render.RunGates()); err != nil {
		return err
	}
	if _, err := labels.Parse(o.Selector); err != nil {
		return env.Usage(cmd, "--selector: %w", err)
	}
	for _, bound := range []string{"selector", "types", "namespace"} { // as of a variable that is not set
		if f := cmd.Flags().Lookup(bound); f.Changed && slices.Contains([]string{"", "[]"}, f.Value.String()) {
			return env.Usage(cmd, "--%s is empty; leave it out to run without this bound", bound)
		}
	}
	for _, g := range o.Gone {
		if _, ok := parseKind(g); !ok {
			return env.Usage(cmd, "--treat-kind-as-gone %q: expected GROUP/VERSION/KIND", g)
		}
	}
	return o.Output.Validate(cmd)
}

// parseKind reads GROUP/VERSION/KIND, and returns the apiVersion and the kind. The group may be
// empty.
func parseKind(text string) (kind [2]string, ok bool) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 || parts[1] == "" || parts[2] == "" {
		return kind, false
	}
	return [2]string{schema.GroupVersion{Group: parts[0], Version: parts[1]}.String(), parts[2]}, true
}
