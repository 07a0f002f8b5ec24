package cmd

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// deleteFlags mirror the flags of kubectl gc delete: all of kubectl delete's, and a few more.
type deleteFlags struct {
	*common
	rootFlags
	output          *outputFlags
	fieldSelector   string
	all             bool
	cascade         string
	force           bool
	now             bool
	gracePeriod     int
	timeout         time.Duration
	ignoreNotFound  bool
	wait            bool
	raw             string
	interactive     bool
	dryRun          string
	yes             bool
	allowIncomplete bool
	archive         string
	gc              string
	propagateGrace  bool
	strict          bool
}

// noTimeout is what kubectl takes for no time-out: a week.
const noTimeout = 168 * time.Hour

func (f *deleteFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.rootFlags.add(cmd)
	flags.StringVar(&f.fieldSelector, "field-selector", "", "Selector (field query) to filter on, supports '=', '==', and '!='")
	flags.BoolVar(&f.all, "all", false, "Delete all objects of the types, in the namespace")
	flags.StringVar(&f.cascade, "cascade", "background", "Propagation policy: background, foreground or orphan")
	flags.Lookup("cascade").NoOptDefVal = "background"
	flags.BoolVar(&f.force, "force", false, "If true, remove the objects from the API at once and bypass graceful deletion")
	flags.BoolVar(&f.now, "now", false, "If true, signal immediate shutdown (same as --grace-period=1)")
	flags.IntVar(&f.gracePeriod, "grace-period", -1, "Seconds given to the objects to terminate gracefully. Ignored if negative. Can only be set to 0 when --force is true")
	flags.DurationVar(&f.timeout, "timeout", 0, "Length of time to wait for the whole cascade before giving up, zero means a week")
	flags.BoolVar(&f.ignoreNotFound, "ignore-not-found", false, "Treat \"not found\" as a successful delete. Defaults to true with --all or a selector")
	flags.BoolVar(&f.wait, "wait", true, "If true, wait until the whole cascade is gone")
	flags.StringVar(&f.raw, "raw", "", "Raw URI to DELETE; refused, since there is no plan for it: use kubectl delete --raw")
	flags.BoolVarP(&f.interactive, "interactive", "i", false, "If true, delete only when confirmed, on a terminal or not")
	flags.StringVar(&f.dryRun, "dry-run", "none", "Must be \"none\", \"client\" or \"server\". client prints the plan; server also sends the requests with dryRun=All")
	flags.Lookup("dry-run").NoOptDefVal = "unchanged"
	flags.BoolVarP(&f.yes, "yes", "y", false, "Do what the plan says without asking; needed where there is no terminal")
	flags.BoolVar(&f.allowIncomplete, "allow-incomplete", false, "Delete even if dependents may be hidden in what could not be listed")
	flags.BoolVar(&f.propagateGrace, "propagate-grace-period", false, "Give the dependents the grace period of --grace-period, --now or --force too. The cluster's collector cannot lengthen one, only --gc=client can")
	flags.BoolVar(&f.strict, "strict", false, "With --cascade=foreground, make each owner wait for all of its dependents: sets blockOwnerDeletion on their references first")
	flags.StringVar(&f.gc, "gc", "cluster", "Who does the garbage collector's part: \"cluster\", or \"client\", which is this command, for a cluster whose collector is off")
	flags.StringVar(&f.archive, "archive", "", "File to save every object of the plan in before the first delete; it must not exist")
	f.addPacks(cmd)
	f.output.add(cmd)
	cmd.RegisterFlagCompletionFunc("gc", cobra.FixedCompletions([]string{"cluster", "client"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("cascade", cobra.FixedCompletions([]string{"background", "foreground", "orphan"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions([]string{"none", "client", "server"}, cobra.ShellCompDirectiveNoFileComp))
}

// deletion is what the flags come to.
type deletion struct {
	policy         plan.Policy
	grace          *int64
	dryRun         string // none, client, server
	ignoreNotFound bool
	timeout        time.Duration
}

// parse checks the flags before anything is asked of the server.
func (f *deleteFlags) parse(cmd *cobra.Command, args []string) (*deletion, error) {
	files := len(f.files.Filenames) > 0 || f.files.Kustomize != ""
	switch {
	case f.raw != "":
		return nil, usage(cmd, "--raw sends a request that no plan can be made for; use kubectl delete --raw %s", f.raw)
	case f.all && f.selector != "":
		return nil, usage(cmd, "cannot set --all and --selector at the same time")
	case f.all && f.fieldSelector != "":
		return nil, usage(cmd, "cannot set --all and --field-selector at the same time")
	case len(args) == 0 && !files:
		return nil, usage(cmd, "you must specify the objects to delete: TYPE NAME, TYPE/NAME, a selector, or -f FILENAME")
	case f.now && f.gracePeriod != -1:
		return nil, usage(cmd, "--now and --grace-period cannot be specified together")
	case f.force && f.gracePeriod > 0:
		return nil, usage(cmd, "--force and --grace-period greater than 0 cannot be specified together")
	case f.gc != "cluster" && f.gc != "client":
		return nil, usage(cmd, "invalid value of --gc (%s): must be cluster or client", f.gc)
	case f.timeout < 0:
		return nil, usage(cmd, "--timeout must not be negative")
	case slices.Contains(f.files.Filenames, "-") && !f.yes && f.dryRun == "none":
		return nil, usage(cmd, "-f - leaves no standard input to answer on; add --yes or --dry-run=client")
	}
	if err := f.files.RequireFilenameOrKustomize(); files && err != nil {
		return nil, usageError{err, cmd.CommandPath()}
	}
	d := &deletion{timeout: f.timeout, ignoreNotFound: f.ignoreNotFound}
	var err error
	if d.policy, err = f.parseCascade(cmd, args); err != nil {
		return nil, err
	}
	if d.dryRun, err = f.parseDryRun(cmd); err != nil {
		return nil, err
	}
	if err := checkArchive(cmd, f.archive, d.dryRun, "a deletion; drop --dry-run, which deletes nothing"); err != nil {
		return nil, err
	}
	if d.timeout == 0 {
		d.timeout = noTimeout
	}
	if (f.all || f.selector != "" || f.fieldSelector != "") && !cmd.Flags().Changed("ignore-not-found") {
		d.ignoreNotFound = true
	}
	d.grace = f.grace()
	switch {
	case f.strict && d.policy != plan.Foreground:
		return nil, usage(cmd, "--strict needs --cascade=foreground: nothing waits for dependents otherwise")
	case f.propagateGrace && d.grace == nil:
		return nil, usage(cmd, "--propagate-grace-period needs a grace period: --grace-period, --now or --force")
	case f.propagateGrace && !f.wait:
		return nil, usage(cmd, "--propagate-grace-period cannot be used with --wait=false: the dependents are deleted while this command waits")
	}
	if err := f.checkPacks(); err != nil {
		return nil, err
	}
	return d, f.output.validate(cmd)
}

// grace is the grace period to send, as kubectl works it out: none, 1 for now, 0 for force.
func (f *deleteFlags) grace() *int64 {
	period := int64(f.gracePeriod)
	switch {
	case f.now:
		period = 1
	case f.force && f.gracePeriod < 0:
		period = 0
	case !f.force && f.gracePeriod == 0:
		period = 1 // kubectl does the same: zero needs --force
	case f.gracePeriod < 0:
		return nil
	}
	return &period
}

func (f *deleteFlags) parseCascade(cmd *cobra.Command, args []string) (plan.Policy, error) {
	// The value of --cascade cannot be told from an argument when it stands apart, and kubectl deletes in the background, and an object
	// called "orphan" besides.
	if cmd.Flags().Changed("cascade") && f.cascade == "background" {
		for _, arg := range args {
			if _, err := plan.ParsePolicy(arg); err == nil {
				return "", usage(cmd, "--cascade %s is read as --cascade=background and an object called %q; did you mean --cascade=%s?", arg, arg, arg)
			}
		}
	}
	if b, err := strconv.ParseBool(f.cascade); err == nil {
		policy := plan.Background
		if !b {
			policy = plan.Orphan
		}
		fmt.Fprintf(f.ErrOut, "Warning: --cascade=%s is deprecated (boolean value) and can be replaced with --cascade=%s.\n", f.cascade, policyFlag(policy))
		return policy, nil
	}
	policy, err := plan.ParsePolicy(f.cascade)
	if err != nil {
		return "", usageError{err, cmd.CommandPath()}
	}
	return policy, nil
}

func policyFlag(p plan.Policy) string {
	return map[plan.Policy]string{plan.Background: "background", plan.Foreground: "foreground", plan.Orphan: "orphan"}[p]
}

func (f *deleteFlags) parseDryRun(cmd *cobra.Command) (string, error) {
	switch f.dryRun {
	case "none", "client", "server":
		return f.dryRun, nil
	case "unchanged":
		return "client", nil
	}
	if b, err := strconv.ParseBool(f.dryRun); err == nil {
		if b {
			return "client", nil
		}
		return "none", nil
	}
	return "", usage(cmd, "invalid dry-run value (%v). Must be \"none\", \"server\", or \"client\".", f.dryRun)
}
