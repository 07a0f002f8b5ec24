package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

func newUnfinalize(c *common) *cobra.Command {
	f := &unfinalizeFlags{common: c, output: newOutputFlags("wide", "name")}
	cmd := &cobra.Command{
		Use:   "unfinalize (TYPE/NAME... | TYPE NAME... | TYPE -l label | --tree TYPE/NAME | --all-stuck)",
		Short: "Take finalizers off what is stuck, with evidence and preconditions",
		Long: `Take named finalizers off objects whose deletion they hold up.

Before anything is written it says of each finalizer who takes it off, whether that is alive and by what sign, what happens if
it is taken off without that, and what happens when its controller is started again instead. Without --finalizer it lists those
that are there and lets you choose, on a terminal.

It refuses where the one who takes the finalizer off is alive, since it would work if you wait, and where data can be lost or the
cluster can break, until --force; and on objects that are not being deleted, until --force-live. Where that one was not found, runs
outside the cluster, or is not known, something outside may leak: that takes --force, or your answer to a question that names it.

It says what follows: without its finalizer the object is gone, and then the garbage collector deletes its dependents. If the disk of
a PersistentVolume is destroyed with one of them, or with the object itself, that takes --force.

Where there is a better way it goes that: "orphan" comes off only after the references to the owner are off all dependents, which
would be deleted otherwise, and not at all if one of them can be hidden in what could not be listed; for "foregroundDeletion" it
asks for the policy Background; "kubernetes" in the spec of a namespace comes off, through /finalize, when two complete listings
have shown that nothing is left in it, or with --force after saying what is left behind. An object without any finalizer whose
deletion was left half done is deleted again.

Every write is tested on the server beforehand, without being stored: a webhook that is down, or an object that is not valid any more,
is told before anything is done. Every write carries the uid, the resourceVersion and the value that it takes out; what has changed
meanwhile is read and judged anew, and the other finalizers keep their order. Afterwards it says what is gone, and what is still there
and why: other finalizers, or somebody who has put it back.

Exit code 2 means that something was refused, or was put back.`,
		Example: `  # Which finalizers hold it, and what is known of them?
  kubectl gc unfinalize widget/engine

  # Take one off
  kubectl gc unfinalize widget/engine --finalizer billing.example.com/close-account

  # Turn a foreground deletion that hangs into one in the background
  kubectl gc unfinalize deployment/web --finalizer foregroundDeletion

  # Let go of a namespace that is empty
  kubectl gc unfinalize namespace/shop --finalizer kubernetes

  # Whatever an uninstalled operator has left behind, in the whole cluster; keep a copy
  kubectl gc unfinalize --all-stuck -A --finalizer finalizer.acme.cert-manager.io --archive challenges.yaml

  # Everything below an object, leaves first
  kubectl gc unfinalize --tree namespace/shop --finalizer widgets.example.com/cleanup --keep-going

  # What would be done, for a program
  kubectl gc unfinalize widget/engine --finalizer billing.example.com/close-account --dry-run=server -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := f.parse(cmd, args)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), r)
		},
		ValidArgsFunction: c.completeObjects,
	}
	f.add(cmd)
	return cmd
}

// namesOf says which finalizers of an object are meant.
type namesOf = func(*unstructured.Unstructured) []string

func (f *unfinalizeFlags) run(ctx context.Context, r *unfinalizeRequest) error {
	client, err := f.client()
	if err != nil {
		return err
	}
	catalog, err := interruptible(ctx, client.Discover)
	if err != nil {
		return err
	}
	targets, gaps, err := f.targets(ctx, client, catalog, r)
	if err != nil {
		return err
	}
	warnGaps(f.ErrOut, gaps)
	known, err := f.known()
	if err != nil {
		return err
	}
	judge := unfinalize.NewJudge(client, actor.NewFinder(cluster.NewReader(client, catalog), known))
	judge.Proving = func(namespace string, wait time.Duration) {
		fmt.Fprintf(f.ErrOut, "nothing found in namespace %s; looking again in %s\n", render.Escape(namespace), wait)
	}
	r.terms.Asked = f.dryRun == "none" && !f.yes && f.hasTerminal()
	var cases judged
	if len(f.finalizers) > 0 {
		cases, err = f.judge(ctx, judge, r, targets, func(*unstructured.Unstructured) []string { return f.finalizers })
	} else {
		cases, err = f.choose(ctx, judge, r, targets)
	}
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		return errors.Join(f.nothingStuck(gaps), incompleteSearch(gaps))
	}
	if err := judge.Foresee(ctx, cases.all()); err != nil {
		return err
	}
	return errors.Join(f.carryOut(ctx, client, r, cases, gaps), incompleteSearch(gaps))
}

// carryOut says what is to be done, and does it unless it is refused.
func (f *unfinalizeFlags) carryOut(ctx context.Context, client *cluster.Client, r *unfinalizeRequest, cases judged, gaps []v1alpha1.Gap) error {
	unfinalize.Rights(ctx, client, cases.all())
	if f.dryRun != "client" {
		if err := unfinalize.DryRun(ctx, client, cases.all(), r.terms); err != nil {
			return err
		}
	}
	good := cases.keep(func(c *unfinalize.Case) bool { return !c.Refused(r.terms) })
	refused := f.refusal(cases, r)
	if f.dryRun != "none" {
		return errors.Join(f.show(cases, r.terms, gaps), refused)
	}
	if len(good) == 0 || refused != nil && !f.keepGoing {
		return errors.Join(f.showRefused(cases, r.terms), refused)
	}
	if err := f.confirm(ctx, cases, r.terms, gaps); err != nil {
		return errors.Join(err, refused)
	}
	if err := f.save(ctx, client, good, r.terms, gaps); err != nil {
		return err
	}
	return errors.Join(f.perform(ctx, client, good, cases, r, gaps), refused)
}

// incompleteSearch is the finding that there may be more.
func incompleteSearch(gaps []v1alpha1.Gap) error {
	if len(gaps) == 0 {
		return nil
	}
	return refusal{errors.New("incomplete: what could not be listed was not looked through")}
}

// all names every finalizer of an object.
func all(o *unstructured.Unstructured) []string {
	var names []string
	for _, h := range unfinalize.On(o) {
		if !slices.Contains(names, h.Name) {
			names = append(names, h.Name)
		}
	}
	return names
}
