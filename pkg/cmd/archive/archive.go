// Package archive is the command kubectl gc archive.
package archive

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/tree"
)

// Options are the flags and arguments of kubectl gc archive.
type Options struct {
	*env.Env
	Objects env.Objects
	Output  *env.Output
	Args    []string
	// To is the file to write, and Verify one to read; one of them is empty.
	To, Verify string
	// FollowLinks is the value of --links.
	FollowLinks     bool
	AllowIncomplete bool
}

// New returns the command archive, which calls runF with its options; nil runs it.
func New(e *env.Env, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Env: e, Output: env.NewOutput(e, "wide", "name"), FollowLinks: true}
	cmd := &cobra.Command{
		Use:        "archive (TYPE/NAME ... | TYPE NAME ... | TYPE -l SELECTOR | -f FILENAME) --to FILE",
		Short:      "Save objects with all their dependents, and verify what is saved",
		SuggestFor: []string{"save", "backup", "export"},
		Long: `Save objects and all their dependents in a file, whole, without deleting anything.

What is saved is what kubectl gc tree shows. The file has YAML documents: first a plan, which says
what was saved, when and of which cluster; then each object, owners before their dependents. It is
compressed if its name ends in .gz. Only its owner can read it (mode 0600), because it contains
Secrets in the clear. A file that exists is never overwritten. If an object cannot be read, or a
type cannot be listed that may contain dependents, there is no file; --allow-incomplete saves what
could be listed.

--verify says what is in an archive, and whether it is whole; it asks no server. The archives of
--archive, as of kubectl gc delete, are the same.

Exit code 2 means that nothing was saved because the archive would be incomplete, or that an
archive is not whole.`,
		Example: `  # Save a namespace with everything in it
  kubectl gc archive namespace/shop --to shop.yaml.gz

  # Save some deployments with their dependents
  kubectl gc archive deployments -l app=web --to web.yaml

  # What is in an archive, and is it whole?
  kubectl gc archive --verify shop.yaml.gz`,
		RunE:              env.RunE(o, o.validate, runF, run),
		ValidArgsFunction: e.CompleteObjects,
	}
	o.Objects.AddFlags(o.Env, cmd)
	o.Output.Add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.To, "to", "",
		"File to save the objects in; it must not exist. If its name ends in .gz, it is compressed")
	flags.StringVar(&o.Verify, "verify", "", "Say what is in this archive and whether it is whole, instead of writing one")
	flags.BoolVar(&o.AllowIncomplete, "allow-incomplete", false,
		"Save what there is even if types that may contain dependents could not be listed")
	flags.BoolVar(&o.FollowLinks, "links", o.FollowLinks,
		"Also save dependents without an ownerReference: the instances of a CRD, the content of a namespace, what links of packs say")
	e.AddPacks(cmd)
	return cmd
}

func (o *Options) validate(cmd *cobra.Command, args []string) error {
	o.Args = args
	if err := cmp.Or(o.Objects.Validate(cmd, o.Args), o.CheckPacks(), o.Output.Validate(cmd)); err != nil {
		return err
	}
	if cmd.Flags().Changed("verify") {
		return o.validateVerify(cmd)
	}
	switch {
	case !o.Objects.Named(o.Args):
		return env.Usage(
			cmd, "archive requires objects: TYPE/NAME, TYPE -l SELECTOR or -f FILENAME; or an archive: --verify FILE")
	case o.To == "":
		return env.Usage(cmd, "--to is required: the file to save the objects in")
	case o.To == "-":
		return env.Usage(cmd, "--to does not write to standard output, which is for the result; name a file")
	}
	if err := archive.Check(o.To); err != nil {
		return env.Usage(cmd, "--to: %w", err)
	}
	return nil
}

func (o *Options) validateVerify(cmd *cobra.Command) error {
	switch {
	case o.Objects.Named(o.Args):
		return env.Usage(cmd, "--verify reads an archive and takes no objects")
	case o.Verify == "":
		return env.Usage(cmd, "--verify needs the name of a file")
	}
	for _, flag := range []string{"to", "allow-incomplete", "links", "all-namespaces"} {
		if cmd.Flags().Changed(flag) {
			return env.Usage(cmd, "--verify cannot be used together with --%s", flag)
		}
	}
	return nil
}

func run(ctx context.Context, o *Options) error {
	if o.Verify != "" {
		return o.verify(ctx)
	}
	q, err := o.Query(ctx, &o.Objects, o.Args)
	if err != nil {
		return err
	}
	t, err := tree.NewArchival(ctx, q, o.FollowLinks, o.Links)
	if err != nil {
		return err
	}
	render.WarnGaps(o.ErrOut, t.Gaps)
	if err := t.Refused(); err != nil && !o.AllowIncomplete {
		return err
	}
	saved, err := t.Save(ctx, q.Client, o.To)
	if err != nil {
		return err
	}
	render.NotArchived(o.ErrOut, saved)
	return o.Print(ctx, func() error {
		if o.Output.Format() == "" {
			_, err := fmt.Fprintln(o.Out, render.ArchivedIn(saved))
			return err
		}
		return o.print(saved.Printed())
	})
}

// verify reads an archive. Reading a file knows no context.
func (o *Options) verify(ctx context.Context) error {
	s, err := interrupt.Do(ctx, func() (*archive.Summary, error) { return archive.Verify(o.Verify) })
	if err != nil {
		return err
	}
	a := s.Printed(o.Verify)
	if err := o.Print(ctx, func() error { return o.print(a) }); err != nil {
		return err
	}
	return answer.Refuse(s.Damage)
}

func (o *Options) print(a *v1alpha1.Archive) error {
	switch o.Output.Format() {
	case "", "wide":
		return render.Archive(o.Out, a, o.Style(o.Output))
	case "name":
		return render.ArchiveNames(o.Out, a)
	}
	return o.Output.Write(o.Out, a)
}
