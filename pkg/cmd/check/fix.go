package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/env"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

func (o *Options) addFixFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&o.Fix, "fix", false,
		"Remove references to owners that do not exist, from objects that another owner keeps")
	o.AddDryRun(
		cmd, "With --fix. Must be \"none\", \"client\" or \"server\". client prints the plan; server also sends its writes with dryRun=All")
	o.AddArchive(cmd, "With --fix: file to save the objects in before the first write; it must not exist. auto picks one, for restore --last")
	o.AddYes(cmd, "With --fix: perform the plan without asking; required without a terminal")
}

// validateFix checks what was typed about --fix.
func (o *Options) validateFix(cmd *cobra.Command) error {
	for _, name := range []string{"dry-run", "archive", "yes"} {
		if !o.Fix && cmd.Flags().Changed(name) {
			return env.Usage(cmd, "--%s requires --fix", name)
		}
	}
	switch {
	case !o.Fix:
		return nil
	case o.Objects.HasFiles():
		return env.Usage(cmd, "--fix cannot be used together with -f or -k: it changes objects in the cluster")
	case slices.Contains([]string{"junit", "sarif", "prometheus", "ndjson"}, o.Output.Format()):
		return env.Usage(cmd, "--fix cannot be used together with -o %s", o.Output.Format())
	}
	return cmp.Or(o.CheckDryRun(cmd), o.CheckArchive(cmd, "a write; drop --dry-run, which writes nothing"))
}

// fix removes what can be removed safely, and prints what is left.
func (o *Options) fix(ctx context.Context, q *selection.Query, report *v1alpha1.CheckReport) error {
	p, err := check.PlanFixes(ctx, q.Client, q.Catalog, report)
	if err != nil {
		return err
	}
	for _, l := range p.Left {
		render.Message(o.ErrOut, "", render.FixSkipped(l.Object, l.Because))
	}
	switch {
	case o.DryRun != "none":
		return o.dryRun(ctx, p)
	case len(p.Fixes) == 0:
		return o.fixed(ctx, p, nil)
	}
	if err := o.agree(ctx, p); err != nil {
		return err
	}
	if o.Archive != "" {
		saved, err := p.Save(ctx, o.Archive)
		if err != nil {
			return err
		}
		o.Archived(saved)
	}
	return o.fixed(ctx, p, p.Perform(ctx, func(e check.Event) {
		if o.Lines() && e.Err == nil {
			fmt.Fprintln(o.Out, render.FixLine(e.Fix))
		}
	}))
}

// dryRun shows the plan, and what the server says to it.
func (o *Options) dryRun(ctx context.Context, p *check.Fixes) error {
	if err := o.Print(ctx, func() error { return o.showFixes(p) }); err != nil {
		return err
	}
	var failed error
	if o.DryRun == "server" {
		all := p.DryRun(ctx)
		o.skipped(all)
		failed = check.Errors(all)
	}
	return errors.Join(failed, o.finding(p.Report))
}

func (o *Options) showFixes(p *check.Fixes) error {
	if o.Lines() && len(p.Fixes) == 0 {
		_, err := fmt.Fprintln(o.Out, "nothing to fix")
		return err
	}
	return o.Show(func(s render.Style) error { return render.FixPlan(o.Out, p, s) },
		func() error { return render.FixNames(o.Out, p.Fixes) }, func() env.Document { return p.Printed() })
}

// agree shows the plan and asks. Nothing was written if it returns an error.
func (o *Options) agree(ctx context.Context, p *check.Fixes) error {
	if o.Yes {
		return nil
	}
	out := o.Out
	if !o.Lines() {
		out = o.ErrOut // what goes to stdout is the Result
	}
	if err := errors.Join(o.Head(out), render.FixPlan(out, p, o.Style(o.Output))); err != nil {
		return err
	}
	if !o.HasTerminal() {
		return env.NoTerminal("nothing was removed")
	}
	return o.Confirm(ctx, render.Question, "", "nothing was removed")
}

// skipped says what was left alone because it has changed.
func (o *Options) skipped(all []*check.Fixed) {
	for _, f := range all {
		if f.Skipped != nil {
			render.Message(o.ErrOut, "", render.FixSkipped(f.Object, f.Skipped))
		}
	}
}

// fixed prints what came of it, and what is left.
func (o *Options) fixed(ctx context.Context, p *check.Fixes, all []*check.Fixed) error {
	o.skipped(all)
	remaining := p.Remaining(all)
	err := o.Print(ctx, func() error {
		return o.Tell(func() error { return render.Check(o.Out, remaining, o.Style(o.Output)) },
			func() error { return render.FixNames(o.Out, check.Done(all)) }, func() env.Document { return p.Result(all) })
	})
	return errors.Join(err, check.Errors(all), o.finding(remaining))
}
