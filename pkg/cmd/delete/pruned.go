package delete

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

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
