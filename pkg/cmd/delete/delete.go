// Package delete is the command kubectl gc delete.
package delete

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// New returns the command delete, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Mutation: env.NewMutation(e, slices.Concat([]string{"wide", "name"}, documents)...)}
	o.Output.WithRows()
	cmd := &cobra.Command{
		Use:        "delete ([-f FILENAME] | TYPE [(NAME | -l label | --all)])",
		Short:      "Preview a deletion, perform it, and wait for the whole cascade",
		SuggestFor: []string{"rm", "remove", "del"},
		Long: `Delete objects as kubectl delete does, with the same flags, and see first what the deletion
cascades to.

The plan shows which objects are deleted, in which wave and with which propagation policy; which
dependents are kept, because another owner still exists; which owner references are removed; and
which finalizers delay the deletion. Then you are asked to confirm. Without a terminal you need
--yes, which deletes without showing the plan. Every delete carries the uid of the planned
object, so an object that was created again under the same name is never deleted. The command
waits until all objects of the cascade are deleted, not only those you named.

If you lack permission for any delete in the plan, nothing is deleted. If a type that may
contain dependents could not be listed, the plan says "at least", and you need
--allow-incomplete to delete.

Each printed plan has a digest over what it does. With --confirm=DIGEST the command does not ask:
it plans again, and performs the plan only if it has this digest. With --confirm=FILE, the plan
as -o json printed it, it also prints the difference. So a plan can be made in one job, approved,
and performed in another.

--audit-file FILE appends JSON lines to a file: the plan that was agreed to or refused, with the
user, context and server; each write of this command when it is answered; and how the command
ended. If the file cannot be written, nothing more is written to the server.

--archive FILE saves all objects that the plan deletes or changes as YAML documents, right
before the first delete: first the plan, then the objects, owners before dependents. The file
contains their secrets; only you can read it (0600). It is written completely or not at all: if
an object cannot be read, or the file cannot be written, nothing is deleted. An existing file is
never overwritten. An object that you name is not deleted if it changed after it was archived,
except in its status. Dependents are archived as they are before the first delete. The cluster's
collector can also delete dependents that are created later; a warning names those that were
observed. kubectl apply -f reports the plan, which has a kind that no server knows, and creates
the objects with new uids, so that owners and dependents no longer belong together: the
collector deletes such dependents.

--gc=client deletes and changes only objects of the plan; with --archive, only objects in the
archive. Dependents that are created later are not deleted, and a warning names them.

The command watches the objects that it waits for. Without permission to watch, it lists them
every two seconds; without permission to list, it reads each object. It does not wait for
objects that it cannot read, and a warning names them.

With --dry-run, -o html prints the plan as one page that needs no network: open it in a browser
to step through the waves, and to see details of each finalizer, and why objects already in deletion
still exist. -o markdown prints it as a comment for a review, with the objects folded, and -o junit
as test cases, one for each name of --fail-on, which ends with code 2 if the plan has what it names.

-f OLD --unless-in NEW deletes what a change of manifests removes: what stands in OLD and not in
NEW, by group, kind, namespace and name. Without a terminal and --yes it is a dry run. With
--as-pruned-by, what that program keeps when it prunes is kept, by its annotations and labels on the
object in the cluster, and so is what it did not apply. The policy is the program's.

Exit code 2 means that the deletion was refused, that the plan is not the approved one, that
dependents were not deleted because they are not in the plan, that a controller kept what it was
to delete, or that objects still exist after --timeout.`,
		Example: `  # What would be deleted with this deployment?
  kubectl gc delete deployment/web --dry-run=client

  # Delete it, and return when its pods are deleted too
  kubectl gc delete deployment/web --cascade=foreground --yes

  # The same, and also wait for dependents that do not block their owner
  kubectl gc delete widget/engine --cascade=foreground --strict --yes

  # Give the pods of the cascade at most 5 seconds
  kubectl gc delete deployment/web --grace-period=5 --propagate-grace-period --yes

  # Leave the pods running
  kubectl gc delete deployment/web --cascade=orphan

  # Plan in one job, approve, and perform in another
  kubectl gc delete deployment/web --dry-run=client -o json > plan.json
  kubectl gc delete deployment/web --confirm=plan.json

  # Save a copy of everything that is deleted
  kubectl gc delete namespace shop --archive shop.yaml

  # The plan for a program
  kubectl gc delete -f app.yaml --dry-run=client -o json

  # What would Argo CD delete, and what with it, if this change were merged?
  kubectl gc delete -k main/deploy --unless-in deploy --as-pruned-by argocd --fail-on=data-loss,stuck,gaps

  # The plan as a page for the browser
  kubectl gc delete namespace shop --dry-run=server -o html > plan.html`,
		RunE:              env.RunE(o, o.validate, runF, run),
		ValidArgsFunction: e.CompleteObjects,
	}
	o.addFlags(cmd)
	return cmd
}

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
