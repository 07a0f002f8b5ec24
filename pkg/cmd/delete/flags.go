package delete

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Options are the flags and arguments of kubectl gc delete.
type Options struct {
	env.Mutation // whose DryRun is none, client or server once it is validated
	Objects      env.Objects
	Args         []string
	// Request is the deletion as the flags ask for it; validate fills in what several flags come
	// to, and run the namespace.
	Request     deletion.Request
	Cascade     string
	Force       bool
	Now         bool
	GracePeriod int
	Timeout     time.Duration
	// PrunedBy is the value of --as-pruned-by.
	PrunedBy string
	// StageTimeout is for each stage of --ordered; 0 for none of its own.
	StageTimeout time.Duration
	Wait         bool
	Raw          string
	Interactive  bool
	// Confirm is the digest or file of --confirm, and approved what validate reads of it; nil
	// without one.
	Confirm  string
	approved *deletion.Approval
	GC       string
	// AuditFile is the file of --audit-file, and audit what run opens; nil without one.
	AuditFile string
	audit     *auditLog
}

// addFlags adds all flags of kubectl delete, and a few more.
func (o *Options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	o.Objects.AddFlags(o.Env, cmd)
	flags.StringSliceVar(&o.Request.Selection.UnlessIn, "unless-in", nil,
		"With -f or -k: delete only what these files, directories or kustomizations do not have; - reads standard input. Without a terminal and --yes it is a dry run")
	flags.StringVar(&o.PrunedBy, "as-pruned-by", "",
		"With --unless-in: keep what this program keeps when it prunes: argocd, flux, helm, kubectl, or one of --packs")
	flags.StringVar(&o.Request.Selection.Fields, "field-selector", "",
		"Selector (field query) to filter on, supports '=', '==', and '!='")
	flags.BoolVar(&o.Request.Selection.All, "all", false, "Delete all objects of the given types in the namespace")
	flags.StringVar(&o.Cascade, "cascade", "background", "Propagation policy: background, foreground or orphan")
	flags.Lookup("cascade").NoOptDefVal = "background"
	flags.BoolVar(&o.Force, "force", false,
		"If true, remove the objects from the API immediately and bypass graceful deletion")
	flags.BoolVar(&o.Now, "now", false, "If true, signal immediate shutdown (same as --grace-period=1)")
	flags.IntVar(&o.GracePeriod, "grace-period", -1,
		"Seconds given to the objects to terminate gracefully. Ignored if negative. Can only be set to 0 when --force is true")
	flags.DurationVar(&o.Timeout, "timeout", 0,
		"How long to wait for the whole cascade before giving up; zero means a week")
	flags.BoolVar(&o.Request.IgnoreNotFound, "ignore-not-found", false,
		"Treat \"not found\" as a successful delete. Defaults to true with --all or a selector")
	flags.BoolVar(&o.Wait, "wait", true, "If true, wait until all objects of the cascade are deleted")
	flags.StringVar(&o.Raw, "raw", "",
		"Raw URI to DELETE; not supported, because a raw request cannot be planned: use kubectl delete --raw")
	flags.BoolVarP(&o.Interactive, "interactive", "i", false,
		"If true, delete only after confirmation, even without a terminal")
	o.AddDryRun(
		cmd, "Must be \"none\", \"client\" or \"server\". client prints the plan; server also sends the requests with dryRun=All")
	flags.Lookup("dry-run").NoOptDefVal = "unchanged"
	o.AddYes(cmd, "Delete without asking; required without a terminal")
	flags.StringVar(&o.Confirm, "confirm", "",
		"Delete without asking, and only if the plan is the approved one: its digest, or the file of the plan as -o json printed it")
	flags.BoolVar(&o.Request.AllowIncomplete, "allow-incomplete", false,
		"Delete even if types that may contain dependents could not be listed")
	flags.BoolVar(&o.Request.AllowStuck, "allow-stuck", false,
		"Delete even if the deletion would not complete: it deletes whoever removes the finalizers that it waits for, or the server refuses a part of it")
	flags.IntVar(&o.Request.MaxDeletes, "max-deletes", 0,
		"Refuse to delete more objects than this, dependents included; zero means any number")
	o.AddFailOn(cmd, render.Gates())
	flags.BoolVar(&o.Request.Ordered, "ordered", false,
		"Delete in stages, each of which waits until the one before is deleted: custom resources and whatever waits for an operator, then operators and all else, then CRDs, then namespaces")
	flags.DurationVar(&o.StageTimeout, "stage-timeout", 0,
		"With --ordered, how long to wait for each stage before giving up; zero means as long as --timeout")
	flags.BoolVar(&o.Request.PropagateGracePeriod, "propagate-grace-period", false,
		"Also apply the grace period of --grace-period, --now or --force to the dependents. Only --gc=client can lengthen their own grace period")
	flags.BoolVar(&o.Request.Strict, "strict", false,
		"With --cascade=foreground, make each owner wait for all of its dependents: first sets blockOwnerDeletion on their references")
	flags.StringVar(&o.GC, "gc", "cluster",
		"Which garbage collector deletes the dependents: \"cluster\", or \"client\" for this command, if the cluster's collector does not run")
	o.AddArchive(cmd, "File in which to save all objects of the plan before the first delete; it must not exist. auto picks one, for restore --last")
	flags.StringVar(&o.AuditFile, "audit-file", "",
		"File to which to append what is planned, agreed to and done, as JSON lines")
	o.AddPacks(cmd)
	o.Output.Add(cmd)
	o.CompleteFlag(cmd, "as-pruned-by", o.completePruners)
	o.CompleteFlag(cmd, "gc",
		cobra.FixedCompletions([]string{"cluster", "client"}, cobra.ShellCompDirectiveNoFileComp))
	o.CompleteFlag(cmd, "cascade",
		cobra.FixedCompletions([]string{"background", "foreground", "orphan"}, cobra.ShellCompDirectiveNoFileComp))
}

// readApproval reads what --confirm names before anything is asked of the server.
func (o *Options) readApproval(cmd *cobra.Command) error {
	var err error
	switch {
	case !cmd.Flags().Changed("confirm"):
		return nil
	case o.Yes:
		return env.Usage(cmd, "--confirm and --yes cannot be used together: --confirm agrees to one plan only")
	case o.Interactive:
		return env.Usage(cmd, "--confirm and --interactive cannot be used together: --confirm answers the question")
	}
	if o.approved, err = deletion.ReadApproval(o.Confirm); err != nil {
		return env.Usage(cmd, "--confirm: %w", err)
	}
	return nil
}

// confirmed returns the refusal of a plan that is not the approved one; nil if there is no
// approval.
func (o *Options) confirmed(p *deletion.Planned) error {
	if o.approved == nil {
		return nil
	}
	if o.approved.Digest == p.Digest() {
		return nil
	}
	now := printed(p)
	err := fmt.Errorf("nothing was deleted: the plan is not the approved one: its digest is %s, and %s was approved",
		now.Digest, o.approved.Digest)
	difference := o.approved.Difference(now)
	if difference == nil {
		return answer.Refuse(answer.WithHint(err,
			"--confirm=FILE with the approved plan, as -o json printed it, shows the difference"))
	}
	fmt.Fprintln(o.ErrOut, planDifference(difference))
	return answer.Refuse(err)
}

// mostDifferences is how many lines of a difference are shown.
const mostDifferences = 20

// planDifference is what a plan does beside the approved one, a line each: "+" is what it does
// more, "-" what it does not do any more.
func planDifference(d *deletion.Difference) string {
	var lines []string
	for _, words := range d.More {
		lines = append(lines, "+ "+render.Escape(words))
	}
	for _, words := range d.Less {
		lines = append(lines, "- "+render.Escape(words))
	}
	if more := len(lines) - mostDifferences; more > 0 {
		lines = append(lines[:mostDifferences], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}
