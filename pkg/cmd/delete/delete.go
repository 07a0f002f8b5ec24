// Package delete is the command kubectl gc delete.
package delete

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
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
