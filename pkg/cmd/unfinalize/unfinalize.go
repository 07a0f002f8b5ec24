// Package unfinalize is the command kubectl gc unfinalize.
package unfinalize

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
)

// Options are the flags and arguments of kubectl gc unfinalize.
type Options struct {
	env.Mutation
	Objects    env.Objects
	Args       []string
	Finalizers []string
	// Tree is an object as TYPE/NAME; empty without the flag.
	Tree                string
	Force, ForceLive    bool
	AllStuck, KeepGoing bool
	// Interactive has the finalizer chosen in a list.
	Interactive bool
}

// New returns the command unfinalize, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Mutation: env.NewMutation(e, "wide", "name")}
	cmd := &cobra.Command{
		Use:        "unfinalize (TYPE/NAME... | TYPE NAME... | TYPE -l label | --tree TYPE/NAME | [TYPE] --all-stuck)",
		Short:      "Remove finalizers from stuck objects, after an assessment",
		SuggestFor: []string{"finalize", "finalizers", "unstick"},
		Long: `Remove named finalizers from objects that are stuck in deletion.

Before it writes anything, it prints for each finalizer which controller removes it, whether
that controller is running and how that was found out, which cleanup is skipped, and what happens
if the controller is started again. Without --finalizer it lists the finalizers and asks which
ones to remove; that needs a terminal. With --interactive one is chosen in a list.

Without --force, a finalizer is kept if its controller is running, if it protects an object that
others use or may use, if data can be lost, or if the cluster can break. Without --force-live,
objects that are not being deleted are left alone. If the controller was not found, runs outside
the cluster or is not known, something outside the cluster may leak: add --force, or confirm the
question that names it.

It lists what follows: once the object is deleted, the garbage collector deletes its dependents.
If that destroys the disk of a PersistentVolume, --force is required.

A safer method is used where one exists. "orphan" is removed after the references to the owner
are removed from all dependents, and only if no dependent can be in a type that could not be
listed. For "foregroundDeletion" the object is deleted again with the policy Background.
"kubernetes" in the spec of a namespace is removed through /finalize after two complete listings
have found the namespace empty, or with --force after listing what stays behind. An object
without finalizers whose deletion was interrupted is deleted again.

Each write is first sent as a dry run, so that a webhook that is down or an object that is no
longer valid is reported before anything changes. Each write carries the uid, the
resourceVersion and the value that it removes. An object that changed in the meantime is read
and assessed again, and its other finalizers keep their order. Afterwards it reports which
objects are deleted, and which still exist and why: other finalizers, or a controller that added
the finalizer again.

Exit code 2 means that something was refused, or that a finalizer was added again.`,
		Example: `  # List its finalizers and what is known of them
  kubectl gc unfinalize widget/engine

  # Go through the finalizers of everything that is stuck in a namespace, and choose one
  kubectl gc unfinalize --all-stuck -n shop -i

  # Remove one finalizer
  kubectl gc unfinalize widget/engine --finalizer billing.example.com/close-account

  # Turn a foreground deletion that hangs into a background deletion
  kubectl gc unfinalize deployment/web --finalizer foregroundDeletion

  # Finalize a namespace that is empty
  kubectl gc unfinalize namespace/shop --finalizer kubernetes

  # Release everything in the cluster that waits for an uninstalled operator, and keep a copy
  kubectl gc unfinalize --all-stuck -A --finalizer finalizer.acme.cert-manager.io --archive challenges.yaml

  # Remove it from everything below an object, leaves first
  kubectl gc unfinalize --tree namespace/shop --finalizer widgets.example.com/cleanup --keep-going

  # Print the plan as JSON
  kubectl gc unfinalize widget/engine --finalizer billing.example.com/close-account --dry-run=server -o json`,
		RunE:              env.RunE(o, o.validate, runF, run),
		ValidArgsFunction: e.CompleteObjects,
	}
	o.addFlags(cmd)
	return cmd
}
