package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// checkArchive finds what is wrong with --archive before anything is asked of the server; needs says what it goes with.
func checkArchive(cmd *cobra.Command, file, dryRun, needs string) error {
	switch {
	case !cmd.Flags().Changed("archive"):
		return nil
	case file == "":
		return usage(cmd, "--archive needs the name of a file")
	case file == "-":
		return usage(cmd, "--archive does not write to standard output, which is for the result; name a file")
	case dryRun != "none":
		return usage(cmd, "--archive needs %s", needs)
	}
	if err := archive.Check(file); err != nil {
		return usage(cmd, "--archive: %w", err)
	}
	return nil
}

// save writes the archive of a plan that is about to be carried out. With an error nothing is deleted and there is no file: exit code 2
// if an object cannot be read, 1 if the file cannot be written.
func (f *deleteFlags) save(ctx context.Context, client *cluster.Client, p *plannedDeletion) error {
	if f.archive == "" {
		return nil
	}
	saved, err := archive.Save(ctx, client, f.archive, p.Plan.Plan, render.PlanObject(p.Plan, p.gaps))
	var unread *cluster.UnreadError
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &unread):
		return refusal{withHint(fmt.Errorf("nothing was deleted: the archive would not be whole: %w", err), "to delete without a copy, leave --archive out")}
	case err != nil:
		return fmt.Errorf("nothing was deleted: writing the archive: %w", err)
	}
	p.saved = saved
	for _, ref := range saved.Gone {
		fmt.Fprintf(f.ErrOut, "Warning: %s is not in the archive: it is not there any more\n", withNamespace(ref, " in "))
	}
	if len(p.Gaps) > 0 {
		fmt.Fprintln(f.ErrOut, "Warning: what could not be listed is not in the archive; its plan names the gaps")
	}
	objects := "objects"
	if saved.Objects == 1 {
		objects = "object"
	}
	fmt.Fprintf(f.ErrOut, "archived %d %s in %s\n", saved.Objects, objects, render.Escape(f.archive))
	return nil
}

// hintArchive is what to do about an object that cannot be deleted because the archive does not have it as it is.
const hintArchive = "run the command again, with another archive"

// archived is act's Archived; nil without an archive.
func (p *plannedDeletion) archived(client *cluster.Client) func(context.Context, graph.Type, graph.Ref, string) error {
	if p.saved == nil {
		return nil
	}
	return func(ctx context.Context, t graph.Type, ref graph.Ref, resourceVersion string) error {
		err := p.saved.Covers(ctx, client, t, ref, resourceVersion)
		if errors.Is(err, archive.ErrChanged) || errors.Is(err, archive.ErrMissing) {
			return refusal{withHint(err, hintArchive)}
		}
		return err
	}
}
