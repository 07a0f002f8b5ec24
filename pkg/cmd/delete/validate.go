package delete

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// documents are the formats of a plan that is not performed.
var documents = []string{"html", "markdown", "junit", "sarif"}

// validate checks what was typed before anything is asked of the server, and fills in the request.
func (o *Options) validate(cmd *cobra.Command, args []string) error {
	o.Args = args
	r := &o.Request
	if err := cmp.Or(o.checkUnlessIn(cmd), o.checkFlags(cmd), o.CheckFailOn(cmd, render.Gates()), o.CheckPacks(),
		o.findPruner(cmd)); err != nil {
		return err
	}
	if err := o.Objects.Files.RequireFilenameOrKustomize(); o.Objects.HasFiles() && err != nil {
		return env.UsageError(cmd, err)
	}
	var err error
	if r.Policy, err = o.policy(cmd); err != nil {
		return err
	}
	if o.DryRun, err = o.dryRun(cmd); err != nil {
		return err
	}
	if err := o.CheckArchive(cmd, "a deletion; remove --dry-run"); err != nil {
		return err
	}
	if f := o.Output.Format(); (slices.Contains(documents, f) || o.Output.HasRows()) && o.DryRun == "none" {
		return env.Usage(cmd, "-o %s shows a plan and no deletion; add --dry-run=client or --dry-run=server", f)
	}
	if err := cmp.Or(o.checkAudit(cmd), o.readApproval(cmd)); err != nil {
		return err
	}
	if o.Timeout == 0 {
		o.Timeout = env.NoTimeout
	}
	again := r.Ordered && o.Objects.HasFiles() // an earlier call may have deleted it
	selected := r.Selection.All || o.Objects.Selector != "" || r.Selection.Fields != ""
	if (again || selected) && !cmd.Flags().Changed("ignore-not-found") {
		r.IgnoreNotFound = true
	}
	r.GracePeriodSeconds, r.GC, r.Known, r.AskServer = o.grace(), deletion.GC(o.GC), o.Known, o.DryRun == "none"
	switch {
	case r.Strict && r.Policy != plan.Foreground:
		return env.Usage(cmd, "--strict requires --cascade=foreground: otherwise owners do not wait for dependents")
	case r.Ordered && r.Policy == plan.Orphan:
		return env.Usage(cmd, "--ordered and --cascade=orphan cannot be used together: orphans are not deleted in any order")
	case r.Ordered && !o.Wait:
		return env.Usage(cmd, "--ordered cannot be used with --wait=false: each stage waits until the one before is deleted")
	case o.StageTimeout != 0 && !r.Ordered:
		return env.Usage(cmd, "--stage-timeout requires --ordered")
	case r.PropagateGracePeriod && r.GracePeriodSeconds == nil:
		return env.Usage(cmd, "--propagate-grace-period requires --grace-period, --now or --force")
	case r.PropagateGracePeriod && !o.Wait:
		return env.Usage(
			cmd, "--propagate-grace-period cannot be used with --wait=false: the dependents are deleted while this command waits")
	}
	return o.Output.Validate(cmd)
}

// checkFlags finds flags that do not go together, as kubectl delete does.
func (o *Options) checkFlags(cmd *cobra.Command) error {
	s := o.Request.Selection
	switch {
	case o.Raw != "":
		return env.Usage(cmd, "--raw is not supported, because a raw request cannot be planned; use %s",
			phrase.Command("kubectl", "delete", "--raw", o.Raw))
	case s.All && o.Objects.Selector != "":
		return env.Usage(cmd, "cannot set --all and --selector at the same time")
	case s.All && s.Fields != "":
		return env.Usage(cmd, "cannot set --all and --field-selector at the same time")
	case len(o.Args) == 0 && !o.Objects.HasFiles():
		return env.Usage(cmd, "you must specify the objects to delete: TYPE NAME, TYPE/NAME, a selector, or -f FILENAME")
	case o.Now && o.GracePeriod != -1:
		return env.Usage(cmd, "--now and --grace-period cannot be specified together")
	case o.Force && o.GracePeriod > 0:
		return env.Usage(cmd, "--force and --grace-period greater than 0 cannot be specified together")
	case o.GC != "cluster" && o.GC != "client":
		return env.Usage(cmd, "invalid value of --gc (%s): must be cluster or client", o.GC)
	case o.Timeout < 0:
		return env.Usage(cmd, "--timeout must not be negative")
	case o.Request.MaxDeletes < 0:
		return env.Usage(cmd, "--max-deletes must not be negative")
	case o.StageTimeout < 0:
		return env.Usage(cmd, "--stage-timeout must not be negative")
	case slices.Contains(slices.Concat(o.Objects.Files.Filenames, s.UnlessIn), "-") &&
		!o.Yes && o.Confirm == "" && o.DryRun == "none":
		return env.Usage(cmd, "cannot prompt while reading from standard input (-f -); add --yes or --dry-run=client")
	}
	return nil
}

// grace is the grace period to send, as kubectl works it out: none, 1 for now, 0 for force.
func (o *Options) grace() *int64 {
	period := int64(o.GracePeriod)
	switch {
	case o.Now:
		period = 1
	case o.Force && o.GracePeriod < 0:
		period = 0
	case !o.Force && o.GracePeriod == 0:
		period = 1 // kubectl does the same: zero needs --force
	case o.GracePeriod < 0:
		return nil
	}
	return &period
}

func (o *Options) policy(cmd *cobra.Command) (plan.Policy, error) {
	// The value of --cascade cannot be told from an argument when it stands apart, and kubectl
	// deletes in the background, and an object called "orphan" besides.
	if cmd.Flags().Changed("cascade") && o.Cascade == "background" {
		for _, arg := range o.Args {
			if _, err := plan.ParsePolicy(arg); err == nil {
				return "", env.Usage(
					cmd, "--cascade %s means --cascade=background and an object named %q; did you mean --cascade=%s?", arg, arg, arg)
			}
		}
	}
	if b, err := strconv.ParseBool(o.Cascade); err == nil {
		policy := plan.Background
		if !b {
			policy = plan.Orphan
		}
		render.Warn(o.ErrOut, "--cascade=%s is deprecated (boolean value) and can be replaced with --cascade=%s.",
			o.Cascade, policyFlag(policy))
		return policy, nil
	}
	policy, err := plan.ParsePolicy(o.Cascade)
	if err != nil {
		return "", env.UsageError(cmd, err)
	}
	return policy, nil
}

func policyFlag(p plan.Policy) string {
	return map[plan.Policy]string{plan.Background: "background", plan.Foreground: "foreground", plan.Orphan: "orphan"}[p]
}

// dryRun is what --dry-run comes to, with the values that kubectl once took.
func (o *Options) dryRun(cmd *cobra.Command) (string, error) {
	switch o.DryRun {
	case "none", "client", "server":
		return o.DryRun, nil
	case "unchanged":
		return "client", nil
	}
	if b, err := strconv.ParseBool(o.DryRun); err == nil {
		if b {
			return "client", nil
		}
		return "none", nil
	}
	return "", env.Usage(cmd, "invalid dry-run value (%v). Must be \"none\", \"server\", or \"client\".", o.DryRun)
}

// checkUnlessIn finds what is wrong with --unless-in and --as-pruned-by, and makes a dry run of what
// nobody can be asked about: a review wants to see the plan, and nothing else.
func (o *Options) checkUnlessIn(cmd *cobra.Command) error {
	files, unless := o.Objects.Files.Filenames, o.Request.Selection.UnlessIn
	flags := cmd.Flags()
	switch {
	case !flags.Changed("unless-in") && flags.Changed("as-pruned-by"):
		return env.Usage(cmd, "--as-pruned-by requires --unless-in")
	case !flags.Changed("unless-in"):
		return nil
	case !o.Objects.HasFiles() || len(o.Args) > 0:
		return env.Usage(cmd, "--unless-in requires -f or -k with the manifests before the change")
	case len(unless) == 0 || slices.Contains(unless, ""):
		return env.Usage(cmd, "--unless-in needs a file, a directory, or - for standard input")
	case slices.Contains(files, "-") && slices.Contains(unless, "-"):
		return env.Usage(cmd, "standard input cannot be read twice: -f and --unless-in are both -")
	}
	if o.DryRun == "none" && !flags.Changed("dry-run") && !o.Yes && o.Confirm == "" && !o.Interactive && !o.HasTerminal() {
		o.DryRun = "client"
		fmt.Fprintln(o.ErrOut, "This is a dry run, because there is no terminal to ask on; use --yes to delete")
	}
	if !flags.Changed("ignore-not-found") {
		o.Request.IgnoreNotFound = true // what was never applied, or is gone, need not be deleted
	}
	return nil
}

// findPruner finds the program of --as-pruned-by. Its policy is that of the deletes unless another
// one was typed.
func (o *Options) findPruner(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("as-pruned-by") {
		return nil
	}
	known, err := o.Known()
	if err != nil {
		return err
	}
	of, is := known.Pruner(o.PrunedBy)
	if !is {
		return env.Usage(cmd, "--as-pruned-by takes %s, not %q", strings.Join(known.Pruners(), ", "), o.PrunedBy)
	}
	if !cmd.Flags().Changed("cascade") {
		o.Cascade, o.Request.Pruner = string(of.Policy), of
		return nil
	}
	asTyped := *of
	asTyped.Policies = nil
	o.Request.Pruner = &asTyped
	return nil
}

func (o *Options) completePruners(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	known, err := o.Known()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return known.Pruners(), cobra.ShellCompDirectiveNoFileComp
}

// nothing says that there is nothing to delete, to a program by a plan of nothing.
func (o *Options) nothing(p *deletion.Planned) error {
	switch o.Output.Format() {
	case "junit":
		return render.PlanJUnit(o.Out, render.DeletionPlan(p), o.FailOn)
	case "sarif":
		return render.PlanSARIF(o.Out, render.DeletionPlan(p), o.FailOn, p.Source)
	}
	says := "No resources found"
	if r := o.Request.Selection; len(r.UnlessIn) > 0 {
		says = fmt.Sprintf("Nothing to delete: every object of %s that exists is also in %s", r.Before(), r.After())
	}
	say := func() error {
		_, err := fmt.Fprintln(o.Out, says)
		return err
	}
	return o.Tell(say, say, func() env.Document {
		if o.DryRun == "none" {
			return v1alpha1.NewResult(p.Gaps)
		}
		none := v1alpha1.NewPlan(p.Gaps)
		none.Policy = string(o.Request.Policy)
		return none
	})
}
