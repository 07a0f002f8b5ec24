package render

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
)

// RestorePlan writes what a restore does, what it leaves alone, and what cannot be restored now.
func RestorePlan(w io.Writer, p *restore.Plan, s Style) error {
	out := bufio.NewWriter(w)
	if len(p.Steps) > 0 {
		if err := writeRows(out, s, []column[restore.Step]{
			{header: "ACTION", cell: func(step restore.Step) string { return string(step.Verb) }},
			{header: "NAMESPACE", cell: func(step restore.Step) string { return orDash(Escape(step.Object.Namespace)) }},
			{header: "OBJECT", cell: func(step restore.Step) string { return KindName(step.Object) }, shorten: 1},
			{header: "OWNERS", cell: restoredOwners, shorten: 1},
			{header: "NOTE", cell: func(step restore.Step) string { return orDash(Escape(strings.Join(step.Notes, "; "))) },
				shorten: 1},
		}, p.Steps); err != nil {
			return err
		}
	}
	if err := restoreHeld(out, p, s); err != nil {
		return err
	}
	for _, line := range restoreSummary(p, s) {
		fmt.Fprintln(out, line)
	}
	return out.Flush()
}

// restoredOwners names the owners that an object gets.
func restoredOwners(step restore.Step) string {
	names := phrase.Words(append(step.References[:len(step.References):len(step.References)], step.Late...),
		func(r restore.Reference) string { return KindName(graph.Ref{Kind: r.Kind, Name: r.Name}) })
	return orDash(strings.Join(names, ","))
}

// restoreHeld writes what cannot be restored now.
func restoreHeld(w io.Writer, p *restore.Plan, s Style) error {
	if len(p.Held) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\nnot restored:")
	return writeRows(w, s, []column[v1alpha1.Survivor]{
		{header: "NAMESPACE", cell: func(l v1alpha1.Survivor) string { return orDash(Escape(l.Object.Namespace)) }},
		{header: "OBJECT", cell: func(l v1alpha1.Survivor) string { return KindName(l.Object) }, shorten: 1},
		{header: "BECAUSE", cell: func(l v1alpha1.Survivor) string { return Escape(l.Because) }, shorten: 1},
	}, p.Held)
}

// restoreSummary counts what is done, and says of what is left alone why.
func restoreSummary(p *restore.Plan, s Style) []string {
	counts := map[plan.Verb]int{}
	for i := range p.Steps {
		counts[p.Steps[i].Verb]++
	}
	var parts []string
	for _, v := range []struct {
		verb       plan.Verb
		what, does string
	}{
		{restore.Create, "object", " to create"}, {restore.Apply, "object", " to apply over others of their name"},
		{restore.Refer, "object", " to give references to restored owners"},
		{restore.SetStatus, "object", " to give its status"}, {restore.Rebind, "volume", " to bind to restored claims"},
	} {
		if n := counts[v.verb]; n > 0 {
			parts = append(parts, phrase.Count(n, v.what)+v.does)
		}
	}
	summary := "nothing to restore"
	if len(parts) > 0 {
		summary = phrase.And(parts)
	}
	lines := wrap(summary, s.columns())
	return append(lines, restoreLeft(p, s)...)
}

// restoreLeft says what nothing is done to, for each reason in one sentence.
func restoreLeft(p *restore.Plan, s Style) []string {
	var lines []string
	for because, names := range groups(p.Left,
		func(l v1alpha1.Survivor) (string, string) { return l.Because, KindName(l.Object) }) {
		lines = append(lines, wrap("left alone: "+phrase.FirstFew(names, 5)+": "+Escape(because), s.columns())...)
	}
	return lines
}

// RestoreNames writes the objects that are written to, as kubectl's -o name does.
func RestoreNames(w io.Writer, p *restore.Plan) error {
	return writeNames(w, slices.Values(p.Steps), func(step restore.Step) graph.Ref { return step.Object })
}

// restoredAs says what a step has done.
var restoredAs = map[plan.Verb]string{restore.Create: "restored", restore.Apply: "applied",
	restore.Refer: "given its owners", restore.Rebind: "bound to its claim", restore.SetStatus: "given its status"}

// Restored is the line about a step that was done.
func Restored(d restore.Event, dryRun bool) string {
	line := TypeName(d.Step.Object) + " " + restoredAs[d.Step.Verb]
	if ns := d.Step.Object.Namespace; ns != "" {
		line += " in namespace " + Escape(ns)
	}
	if len(d.Notes) > 0 {
		line += " (" + Escape(strings.Join(d.Notes, "; ")) + ")"
	}
	if dryRun {
		line += " (server dry run)"
	}
	return line
}

// RestoreErrors are the errors of what was not done, each naming its object. Interrupted says that
// ctx ended, so that objects whose error that is are only named: it is not known what has become of
// them.
func RestoreErrors(r *restore.Result, interrupted bool) error {
	var errs []error
	var unfinished []string
	unsent := 0
	for _, f := range r.Failed {
		switch {
		case errors.Is(f.Err, restore.ErrNotSent):
			unsent++
		case interrupted && errors.Is(f.Err, context.Canceled):
			unfinished = append(unfinished, KindName(f.Step.Object))
		default:
			errs = append(errs, fmt.Errorf("%s was not restored: %w", Quoted(f.Step.Object), f.Err))
		}
	}
	if len(unfinished) > 0 {
		errs = append(errs, answer.WithHint(errors.New("interrupted; not finished: "+sortedFew(unfinished)),
			"the same command goes on from here"))
	}
	if unsent > 0 && (interrupted || len(errs) == 0) {
		errs = append(errs, answer.WithHint(fmt.Errorf("%s not begun", phrase.Count(unsent, "step")),
			"the same command goes on from here"))
	}
	return errors.Join(errs...)
}

// RestoreForbidden says which rights are missing; nil if none is.
func RestoreForbidden(p *restore.Plan) error {
	if len(p.Forbidden) == 0 {
		return nil
	}
	var missing []string
	for _, f := range p.Forbidden {
		missing = append(missing, f.What())
	}
	return answer.Refuse(fmt.Errorf("nothing was restored: you may not %s", Escape(phrase.FirstFew(missing, 5))))
}
