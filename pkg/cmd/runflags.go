package cmd

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// runFlags mirror the flags of kubectl gc run.
type runFlags struct {
	*common
	output         *outputFlags
	once           bool
	allNamespaces  bool
	types          []string
	selector       string
	dryRun         string
	yes            bool
	wait, watch    bool
	timeout        time.Duration
	maxDeletes     int
	allowMass      bool
	hold           bool
	breakDeadlocks bool
	gone           []string
	events         bool
}

func (f *runFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.once, "once", true, "End when nothing is left to do. This is the default; see --watch")
	flags.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "Collect in the whole cluster. This is the default; see -n")
	flags.StringSliceVar(&f.types, "types", nil, "Write only to objects of these types: globs of names, short names, kinds or groups")
	flags.StringVarP(&f.selector, "selector", "l", "", "Write only to objects whose labels match the selector")
	flags.StringVar(&f.dryRun, "dry-run", "none", "Must be \"none\" or \"client\". client prints the plan and writes nothing")
	flags.Lookup("dry-run").NoOptDefVal = "client"
	flags.BoolVarP(&f.yes, "yes", "y", false, "Do what the plan says without asking; needed where there is no terminal. With --watch, also collect what comes up later")
	flags.BoolVar(&f.wait, "wait", false, "Wait for what others have to let go, and go on with what comes of that")
	flags.DurationVar(&f.timeout, "timeout", 0, "Length of time to wait with --wait before giving up, zero means a week")
	flags.BoolVarP(&f.watch, "watch", "w", false, "After the first time keep collecting what comes up, until interrupted")
	flags.IntVar(&f.maxDeletes, "max-deletes", 0, "Refuse to delete more objects than this in all, zero means any number")
	flags.BoolVar(&f.allowMass, "allow-mass-collection", false, "Collect even if most owners of a kind are gone at once, as after a backup was restored")
	flags.BoolVar(&f.hold, "hold-mismatched", false, "Keep objects whose owner is alive under another name, kind or namespace than their reference says; the cluster's collector deletes them")
	flags.BoolVar(&f.breakDeadlocks, "break-deadlocks", false, "Unblock a reference in cycles whose members all wait for each other; the cluster's collector waits for ever")
	flags.StringSliceVar(&f.gone, "treat-kind-as-gone", nil, "Take the objects of a kind that is not served any more for absent, as GROUP/VERSION/KIND; the cluster's collector keeps their dependents for ever")
	flags.BoolVar(&f.events, "events", false, "Write the event OwnerRefInvalidNamespace about each reference to an owner in another namespace, as the cluster's collector does")
	f.output.add(cmd)
	cmd.RegisterFlagCompletionFunc("types", f.completeTypeList)
	cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions([]string{"none", "client"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("selector", cobra.NoFileCompletions)
}

// parse checks the flags before anything is asked of the server.
func (f *runFlags) parse(cmd *cobra.Command) (*runRequest, error) {
	r := &runRequest{timeout: f.timeout, terms: plan.Terms{HoldMismatched: f.hold, BreakDeadlocks: f.breakDeadlocks, Gone: map[[2]string]bool{}}}
	named := cmd.Flags().Changed("namespace")
	switch {
	case f.allNamespaces && named:
		return nil, usage(cmd, "-n and -A cannot be used together")
	case !f.once && !f.watch:
		return nil, usage(cmd, "--once=false needs --watch: there is no loop without an end otherwise")
	case f.dryRun == "server":
		return nil, usage(cmd, "--dry-run=server is not for run: what it would send first is in the plan, and what follows from that no dry run of the server shows")
	case f.dryRun != "none" && f.dryRun != "client":
		return nil, usage(cmd, "invalid dry-run value (%v): must be \"none\" or \"client\"", f.dryRun)
	case f.dryRun != "none" && (f.watch || f.wait):
		return nil, usage(cmd, "--dry-run writes nothing, so there is nothing to wait for or to watch")
	case f.dryRun != "none" && f.events:
		return nil, usage(cmd, "--dry-run writes nothing, and so no events")
	case f.watch && f.wait:
		return nil, usage(cmd, "--watch never ends by itself; drop --wait")
	case f.timeout < 0:
		return nil, usage(cmd, "--timeout must not be negative")
	case f.timeout > 0 && !f.wait:
		return nil, usage(cmd, "--timeout is for --wait")
	case f.maxDeletes < 0:
		return nil, usage(cmd, "--max-deletes must not be negative")
	case f.watch && !f.output.isOwn():
		return nil, usage(cmd, "--watch cannot be used together with -o %s", f.output.format())
	}
	if named {
		ns, err := f.namespace()
		if err != nil {
			return nil, err
		}
		r.namespace = ns
	}
	if f.selector != "" {
		selector, err := labels.Parse(f.selector)
		if err != nil {
			return nil, usage(cmd, "--selector: %w", err)
		}
		r.selector = selector
	}
	for _, g := range f.gone {
		parts := strings.Split(g, "/")
		if len(parts) != 3 || parts[1] == "" || parts[2] == "" {
			return nil, usage(cmd, "--treat-kind-as-gone %q is no GROUP/VERSION/KIND", g)
		}
		gv := schema.GroupVersion{Group: parts[0], Version: parts[1]}
		r.terms.Gone[[2]string{gv.String(), parts[2]}] = true
	}
	if r.timeout == 0 {
		r.timeout = noTimeout
	}
	return r, f.output.validate(cmd)
}
