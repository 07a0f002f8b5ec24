// Package restore is the command kubectl gc restore.
package restore

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
)

// Options are the flags and arguments of kubectl gc restore.
type Options struct {
	env.Mutation
	// File is the archive, and Names the objects of it that are meant; none for all.
	File                                                string
	Names                                               []restore.Name
	All, Overwrite, Status, RequireOwners, OtherCluster bool
	// Last takes the newest archive of --archive=auto for File.
	Last bool
}

// New returns the command restore, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Mutation: env.NewMutation(e, "wide", "name")}
	cmd := &cobra.Command{
		Use:        "restore -f ARCHIVE [TYPE/NAME ... | TYPE NAME ...]",
		Short:      "Create again what an archive holds, with its owners",
		SuggestFor: []string{"import", "undelete"},
		Long: `Create again the objects of an archive that delete, unfinalize, run or archive has written.

Owners are created before their dependents, and ownerReferences get the new uids of the owners.
With kubectl create -f, they would keep the old uids, and the garbage collector would delete the
objects again. Without TYPE/NAME it restores the whole archive; an object that is named is
restored with everything that it owns or contains.

It rolls forward. Objects that exist are left alone; --overwrite applies the archived object over
another one of its name. Dependents that still exist get their references back. What controllers
create by themselves, such as the ReplicaSets and Pods of a Deployment, is left to them; --all
restores it too. Jobs and Pods that have run to their end are not run again without --all.

A reference to an owner that does not come back is left out, with a note; --require-owners does
not restore the object then. A PersistentVolume that was kept is bound to its restored claim. If
the volume is gone, the claim gets a new one, and the plan says that the data are lost.

If the command is interrupted, the same command goes on. What was created is noted by its uid in
ARCHIVE.created, a file beside the archive. Each restored object has the annotation
gc.kubectl.dev/restored-from with the uid that it had, which proves nothing: anybody may write it.

Exit code 2 means that something was refused or could not be restored now.`,
		Example: `  # Delete with an archive, and take it back
  kubectl gc delete deployment/web --archive web.yaml
  kubectl gc restore -f web.yaml

  # The same with an archive that nobody has to name
  kubectl gc delete deployment/web --archive=auto
  kubectl gc restore --last

  # Only show what would be done
  kubectl gc restore -f web.yaml --dry-run=client

  # Restore one object of the archive, with what it owns
  kubectl gc restore -f shop.yaml statefulset/db -n shop`,
		RunE:              env.RunE(o, o.validate, runF, run),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.File, "filename", "f", "", "Archive to restore")
	flags.BoolVar(&o.Last, "last", false, "Restore the newest archive of this cluster that --archive=auto has written")
	flags.BoolVar(&o.All, "all", false,
		"Also restore what controllers create by themselves, and Jobs and Pods that have run to their end")
	flags.BoolVar(&o.Overwrite, "overwrite", false,
		"Apply archived objects over others of their name, by server-side apply")
	flags.BoolVar(&o.Status, "status", false, "Also write the archived status of each object that is created")
	flags.BoolVar(&o.RequireOwners, "require-owners", false,
		"Do not restore an object if one of its owners does not come back")
	flags.BoolVar(&o.OtherCluster, "other-cluster", false,
		"Restore an archive of another cluster, or of one that is not known")
	o.AddDryRun(
		cmd, "Must be \"none\", \"client\" or \"server\". client prints the plan; server also sends each object that can be asked about with dryRun=All")
	o.AddYes(cmd, env.UsageYes)
	o.Output.Add(cmd)
	return cmd
}

func (o *Options) validate(cmd *cobra.Command, args []string) (err error) {
	switch {
	case o.Last && o.File != "":
		return env.Usage(cmd, "--last and -f cannot be used together")
	case o.Last: // which run looks for
	case o.File == "":
		return env.Usage(cmd, "-f is required: the archive to restore; --last takes the newest of --archive=auto")
	case o.File == "-":
		return env.Usage(cmd, "-f needs a file: an archive is read several times")
	}
	if err := o.CheckDryRun(cmd); err != nil {
		return err
	}
	if o.Names, err = restore.ParseNames(args); err != nil {
		return env.UsageError(cmd, err)
	}
	if len(o.Names) == 0 && o.namespace() != "" { // not all of an archive for one namespace
		return env.Usage(cmd, "-n goes with TYPE/NAME: without one the whole archive is restored, in all its namespaces")
	}
	return o.Output.Validate(cmd)
}

// namespace is the one that was typed; empty for any. That of the context is not taken: an archive
// says where its objects were.
func (o *Options) namespace() string {
	if o.Config.Namespace == nil || *o.Config.Namespace == "" {
		o.Scope = "the namespaces of the archive"
		return ""
	}
	return *o.Config.Namespace
}

func run(ctx context.Context, o *Options) error {
	client, catalog, err := o.Connect(ctx)
	if err != nil {
		return err
	}
	if o.Last {
		if o.File, err = env.LastArchive(ctx, client, o.OtherCluster); err != nil {
			return fmt.Errorf("--last: %w", err)
		}
		fmt.Fprintf(o.ErrOut, "restoring from %s\n", render.Escape(o.File))
	}
	p, err := restore.New(ctx, client, catalog, o.File, restore.Options{
		Names: o.Names, Namespace: o.namespace(), All: o.All, Overwrite: o.Overwrite, Status: o.Status,
		RequireOwners: o.RequireOwners, OtherCluster: o.OtherCluster,
	})
	if err != nil {
		return err
	}
	var finding error
	if len(p.Held) > 0 {
		finding = answer.ErrFound
	}
	forbidden := render.RestoreForbidden(p)
	switch {
	case o.DryRun == "client", o.DryRun == "server" && (forbidden != nil || len(p.Steps) == 0):
		return errors.Join(o.show(p), forbidden, finding)
	case forbidden != nil:
		return errors.Join(o.ShowRefused(func() error { return o.show(p) }), forbidden, finding)
	case len(p.Steps) == 0:
		return errors.Join(o.nothing(p), finding)
	}
	if err := o.confirm(ctx, p); err != nil {
		return err
	}
	r, err := p.Perform(ctx, client, o.performing())
	return errors.Join(err, o.result(p, r, ctx.Err() != nil), finding)
}

func (o *Options) show(p *restore.Plan) error {
	return o.Show(func(s render.Style) error { return render.RestorePlan(o.Out, p, s) },
		func() error { return render.RestoreNames(o.Out, p) }, func() env.Document { return p.Printed() })
}

// nothing says that there is nothing to do.
func (o *Options) nothing(p *restore.Plan) error {
	if o.Output.IsOwn() {
		return o.ShowRefused(func() error { return o.show(p) })
	}
	return o.Output.Write(o.Out, (&restore.Result{}).Printed(p))
}

// confirm shows the plan and asks. With --yes it is shown only where something of it is left out.
func (o *Options) confirm(ctx context.Context, p *restore.Plan) error {
	show := func() error { return o.show(p) }
	switch {
	case o.DryRun != "none":
		return nil
	case o.Yes && len(p.Held) > 0:
		return o.ShowRefused(show)
	}
	return o.Agree(ctx, show, render.Question, "", "nothing was restored")
}

// performing says how the plan is performed and what is printed meanwhile.
func (o *Options) performing() restore.PerformOptions {
	opts := restore.PerformOptions{DryRun: o.DryRun == "server"}
	if o.Output.IsOwn() {
		opts.OnEvent = func(e restore.Event) {
			switch {
			case e.Err != nil: // which is said in the end
			case o.Lines():
				fmt.Fprintln(o.Out, render.Restored(e, opts.DryRun))
			default:
				fmt.Fprintln(o.Out, render.TypeName(e.Step.Object))
			}
		}
	}
	return opts
}

// result says what came of what was agreed to.
func (o *Options) result(p *restore.Plan, r *restore.Result, ended bool) error {
	errs := render.RestoreErrors(r, ended)
	if !o.Output.IsOwn() {
		errs = errors.Join(o.Output.Write(o.Out, r.Printed(p)), errs)
	} else if n := len(r.Unasked); n > 0 && o.Lines() {
		render.Warn(o.ErrOut, "the server could not be asked about %d of %d steps, because what they need is not there yet",
			n, len(p.Steps))
	}
	return errs
}
