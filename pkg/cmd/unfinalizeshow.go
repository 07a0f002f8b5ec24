package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// show prints the plan in the format that was asked for.
func (f *unfinalizeFlags) show(cases judged, terms unfinalize.Terms, gaps []v1alpha1.Gap) error {
	switch f.output.format() {
	case "", "wide":
		return f.table(cases.all(), terms, false)
	case "name":
		for _, c := range cases.all() {
			if !c.Refused(terms) {
				fmt.Fprintln(f.Out, render.Escape(kindOf(c.Ref)+"/"+c.Ref.Name))
			}
		}
		return nil
	}
	return f.output.write(f.Out, f.planObject(cases.all(), terms, gaps))
}

// showRefused shows what was not done to a person. A program that asked for a Result gets none: it would take the plan for it.
func (f *unfinalizeFlags) showRefused(cases judged, terms unfinalize.Terms) error {
	if !f.output.isOwn() || f.output.format() == "name" {
		return nil
	}
	return f.table(cases.all(), terms, false)
}

// table prints the verdicts, what is known of the finalizers, and what would be left behind.
func (f *unfinalizeFlags) table(cases []*unfinalize.Case, terms unfinalize.Terms, number bool) error {
	style := f.style(f.output.format() == "wide")
	if err := render.VerdictTable(f.Out, rowsOf(cases, terms, number), style); err != nil {
		return err
	}
	lines := slices.Concat(explanations(cases, terms), afterLines(cases), outsideLines(cases), strandedLines(cases, terms))
	if !number {
		lines = append(lines, planSummary(cases, terms))
	}
	return render.Paragraphs(f.Out, lines, style)
}

// refusal is the error for what is refused; nil if nothing is.
func (f *unfinalizeFlags) refusal(cases judged, r *unfinalizeRequest) error {
	var first string
	refused, hint := 0, ""
	for _, c := range cases.all() {
		for _, v := range c.Verdicts {
			against := v.Against(r.terms)
			if len(against) == 0 {
				continue
			}
			refused++
			if refused == 1 {
				first = withNamespace(c.Ref, " in ") + ": "
				if v.Name != "" {
					first += v.Name + ": "
				}
				first += against[0].Because
				hint = f.hint(against[0], len(cases.all()))
			}
		}
	}
	if refused == 0 {
		return nil
	}
	if refused > 1 {
		first += fmt.Sprintf(" (and %d more refused)", refused-1)
	}
	what := "nothing was taken off: "
	if f.keepGoing {
		what = "refused: "
	}
	return refusal{withHint(errors.New(what+first), hint)}
}

// hint says what to do about a refusal.
func (f *unfinalizeFlags) hint(r unfinalize.Refusal, objects int) string {
	parts := []string{}
	if r.Hint != "" {
		parts = append(parts, strings.TrimSuffix(r.Hint, "."))
	}
	if r.Override != unfinalize.Never && !strings.Contains(r.Hint, string(r.Override)) {
		parts = append(parts, string(r.Override)+" overrides this")
	}
	if objects > 1 && !f.keepGoing {
		parts = append(parts, "--keep-going leaves out what is refused")
	}
	return strings.Join(parts, "; ")
}

// choose asks which of the finalizers that are there are to come off. It is refused without a terminal.
func (f *unfinalizeFlags) choose(ctx context.Context, judge *unfinalize.Judge, r *unfinalizeRequest, targets [][]unfinalize.Target) (judged, error) {
	cases, err := f.judge(ctx, judge, r, targets, all)
	if err != nil {
		return nil, err
	}
	named := 0
	for _, c := range cases.all() {
		for _, v := range c.Verdicts {
			if v.Name != "" {
				named++
			}
		}
	}
	if named == 0 {
		return cases, nil // there is nothing to choose between
	}
	if !f.hasTerminal() || f.yes || f.dryRun != "none" || !f.output.isOwn() {
		return nil, errors.Join(f.showRefused(cases, r.terms), refusal{withHint(
			errors.New("nothing was taken off: no finalizer was named, and there is no terminal to ask on"), "name those that are to come off: --finalizer "+firstName(cases))})
	}
	if err := f.table(cases.all(), r.terms, true); err != nil {
		return nil, err
	}
	chosen, err := f.askNumbers(ctx, cases)
	if err != nil {
		return nil, err
	}
	return f.judge(ctx, judge, r, targetsOf(cases, chosen), func(o *unstructured.Unstructured) []string { return chosen[string(o.GetUID())] })
}

func firstName(cases judged) string {
	for _, c := range cases.all() {
		for _, v := range c.Verdicts {
			if v.Name != "" {
				return v.Name
			}
		}
	}
	return ""
}

// askNumbers asks for numbers of the table and returns the names chosen, by the uid of the object.
func (f *unfinalizeFlags) askNumbers(ctx context.Context, cases judged) (map[string][]string, error) {
	answer, err := f.line(ctx, "Which are to come off? (numbers, comma separated; nothing cancels): ")
	if err != nil {
		return nil, err
	}
	if answer == "" {
		return nil, cancelled("cancelled; nothing was taken off")
	}
	var rows []struct{ uid, name string }
	for _, c := range cases.all() {
		for _, v := range c.Verdicts {
			rows = append(rows, struct{ uid, name string }{c.Ref.UID, v.Name})
		}
	}
	chosen := map[string][]string{}
	for _, word := range strings.Split(answer, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > len(rows) {
			return nil, fmt.Errorf("nothing was taken off: %q is no number from 1 to %d", strings.TrimSpace(word), len(rows))
		}
		row := rows[n-1]
		if _, known := chosen[row.uid]; !known {
			chosen[row.uid] = nil
		}
		if row.name != "" {
			chosen[row.uid] = append(chosen[row.uid], row.name)
		}
	}
	return chosen, nil
}

// targetsOf are the objects of which anything was chosen.
func targetsOf(cases judged, chosen map[string][]string) [][]unfinalize.Target {
	var targets []unfinalize.Target
	for _, c := range cases.all() {
		if _, ok := chosen[c.Ref.UID]; ok {
			targets = append(targets, unfinalize.Target{Type: c.Type, Namespace: c.Ref.Namespace, Name: c.Ref.Name, UID: c.Ref.UID})
		}
	}
	return [][]unfinalize.Target{targets}
}

// confirm shows the plan and asks. Nothing was written if it returns an error.
func (f *unfinalizeFlags) confirm(ctx context.Context, cases judged, terms unfinalize.Terms, gaps []v1alpha1.Gap) error {
	if f.yes {
		out := f.Out
		if !f.output.isOwn() || f.output.format() == "name" {
			out = f.ErrOut
		}
		good := cases.keep(func(c *unfinalize.Case) bool { return !c.Refused(terms) }).all()
		lines := slices.Concat(diskLines(good), afterLines(good), strandedLines(cases.all(), terms))
		return render.Paragraphs(out, lines, render.Style{}) // what is lost and left behind is said in any case
	}
	if !f.hasTerminal() {
		return errors.Join(f.showRefused(cases, terms), refusal{withHint(
			errors.New("nothing was taken off: there is no terminal to ask on"), "add --yes to do what the plan says, or --dry-run=client to see it only")})
	}
	if err := f.show(cases, terms, gaps); err != nil {
		return err
	}
	good := cases.keep(func(c *unfinalize.Case) bool { return !c.Refused(terms) })
	answer, err := f.line(ctx, question(good.all()))
	if err == nil && answer != "y" && answer != "Y" {
		return cancelled("cancelled; nothing was taken off")
	}
	return err
}
