package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fatih/color"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownerref"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Check writes the findings of a report as a table, but for those that are mere information, and a
// summary. A wide one writes each kind of finding with what comes of it and the commands that set
// it right.
func Check(w io.Writer, report *v1alpha1.CheckReport, s Style) error {
	shown := slices.DeleteFunc(slices.Clone(report.Findings),
		func(f v1alpha1.CheckFinding) bool { return !s.Wide && f.Severity == string(check.Info) })
	slices.SortStableFunc(shown, func(a, b v1alpha1.CheckFinding) int { // the worst first
		return cmp.Compare(check.Severity(a.Severity).Rank(), check.Severity(b.Severity).Rank())
	})
	if s.Wide {
		return checkDetails(w, report, shown, s)
	}
	if len(shown) > 0 {
		if err := checkTable(w, shown, s); err != nil {
			return err
		}
	}
	return checkSummary(w, report, s)
}

func checkTable(w io.Writer, shown []v1alpha1.CheckFinding, s Style) error {
	type finding = v1alpha1.CheckFinding
	return writeRows(w, s, []column[finding]{
		{header: "SEVERITY", cell: func(f finding) string { return f.Severity },
			color: func(f finding) *color.Color { return s.severity(f.Severity) }},
		{header: "NAMESPACE", cell: func(f finding) string { return orDash(Escape(f.Object.Namespace)) }, shorten: 2},
		{header: "OBJECT", cell: func(f finding) string { return KindName(f.Object) }, shorten: 3,
			cut: func(f finding, to int) string { return briefRef(KindName(f.Object), to) }},
		{header: "CODE", cell: func(f finding) string { return f.Code }},
		{header: "EFFECT", cell: func(f finding) string { return f.Effect }, drop: 1},
		{header: "MESSAGE", cell: func(f finding) string { return Escape(f.Message) }, shorten: 1,
			least: func(finding) int { return leastSentence }},
	}, shown)
}

// checkDetails writes findings that differ in nothing but the object together.
func checkDetails(w io.Writer, report *v1alpha1.CheckReport, shown []v1alpha1.CheckFinding, s Style) error {
	out := bufio.NewWriter(w)
	type kind struct{ code, message, consequence string }
	for _, all := range groups(shown, func(f v1alpha1.CheckFinding) (kind, v1alpha1.CheckFinding) {
		return kind{f.Code, f.Message, f.Consequence}, f
	}) {
		f := all[0]
		fmt.Fprintf(out, "%s %s\n", paint(s.severity(f.Severity), f.Severity), f.Code)
		names := phrase.Words(all, func(f v1alpha1.CheckFinding) string { return qualified(f.Object) })
		field(out, s, "object", strings.Join(names, ", "))
		if f.File != "" {
			field(out, s, "file", Escape(f.File))
		}
		if r := f.OwnerReference; r != nil {
			field(out, s, "owner", Escape(fmt.Sprintf("%s %s of %s, uid %s", r.Kind, r.Name, r.APIVersion, r.UID)))
		}
		field(out, s, "finding", Escape(f.Message))
		fields(out, s, "evidence", f.Evidence)
		field(out, s, "effect", Escape(f.Consequence))
		if f.Remedy != "" {
			field(out, s, "remedy", Escape(f.Remedy))
		}
		for i, command := range f.Commands {
			fmt.Fprintf(out, "%s%d. %s\n", strings.Repeat(" ", indent), i+1, Escape(command))
		}
		fmt.Fprintln(out)
	}
	if err := checkSummary(out, report, s); err != nil {
		return err
	}
	return out.Flush()
}

func checkSummary(w io.Writer, report *v1alpha1.CheckReport, s Style) error {
	counts := map[check.Severity]int{}
	for _, f := range report.Findings {
		counts[check.Severity(f.Severity)]++
	}
	found := "nothing is wrong"
	if len(report.Gaps) > 0 {
		found += " in the types that could be listed"
	}
	var parts []string
	if n := counts[check.Error]; n > 0 {
		parts = append(parts, phrase.Count(n, "error"))
	}
	if n := counts[check.Warning]; n > 0 {
		parts = append(parts, phrase.Count(n, "warning"))
	}
	if len(parts) > 0 {
		found = phrase.And(parts)
	}
	lines := []string{fmt.Sprintf("checked %s of %s: %s", phrase.Count(report.References, "owner reference"),
		phrase.Count(report.Objects, "object"), found)}
	if n := counts[check.Info]; n > 0 && !s.Wide {
		lines = append(lines, fmt.Sprintf("the collector is about to act on %s; -o wide shows %s", phrase.Count(n, "object"),
			phrase.Plural(n, "it", "them")))
	}
	if report.NotLookedAt > 0 {
		lines = append(lines, phrase.Count(report.NotLookedAt, "finalizer")+" not examined: there are too many")
	}
	if len(report.Gaps) > 0 {
		lines = append(lines, "incomplete: "+shorten(unlisted(report.Gaps), s.Wide)+
			" could not be listed or read"+inNamespaces(report.Gaps)+"; references of and to objects of these types are not checked")
	}
	return notes(w, s, nil, lines...)
}

// CheckNames writes the objects with findings of a severity or worse, each once, as kubectl's -o
// name does.
func CheckNames(w io.Writer, report *v1alpha1.CheckReport, least check.Severity) error {
	out := bufio.NewWriter(w)
	written := map[string]bool{}
	for _, f := range report.Findings {
		if key := refKey(f.Object); check.Severity(f.Severity).AtLeast(least) && !written[key] {
			written[key] = true
			fmt.Fprintln(out, TypeName(f.Object))
		}
	}
	return out.Flush()
}

// FixPlan writes which references of which objects are removed, why, and what keeps the objects.
func FixPlan(w io.Writer, p *check.Fixes, s Style) error {
	type removal struct {
		*check.Fix
		graph.OwnerReference
		because string
	}
	var rows []removal
	for _, fix := range p.Fixes {
		for i, r := range fix.Removed {
			rows = append(rows, removal{fix, r, fix.Because[i]})
		}
	}
	if err := writeRows(w, s, []column[removal]{
		{header: "NAMESPACE", cell: func(r removal) string { return orDash(Escape(r.Object.Namespace)) }},
		{header: "OBJECT", cell: func(r removal) string { return KindName(r.Object) }, shorten: 1},
		{header: "REMOVES", cell: func(r removal) string { return kindSlashName(r.OwnerReference) }, shorten: 1},
		{header: "BECAUSE", cell: func(r removal) string { return Escape(r.because) }, shorten: 1},
		{header: "KEPT-BY", cell: func(r removal) string { return kindSlashName(r.Keeper) }, shorten: 1},
		{header: "UID", cell: func(r removal) string { return Escape(r.UID) }, wide: true},
	}, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "removes %s of %s; no object is deleted\n", phrase.Count(p.Count(), "owner reference"),
		phrase.Count(len(p.Fixes), "object"))
	return err
}

func kindSlashName(r graph.OwnerReference) string { return Escape(r.Kind + "/" + r.Name) }

// FixLine says in one line that references were removed from an object.
func FixLine(fix *check.Fix) string {
	return fmt.Sprintf("%s: %s removed: %s", Quoted(fix.Object), phrase.Count(len(fix.Removed), "owner reference"),
		Escape(strings.Join(fix.Because, "; ")))
}

// FixNames writes the names of the objects that are changed, one in a line.
func FixNames(w io.Writer, fixes []*check.Fix) error {
	return writeNames(w, slices.Values(fixes), func(f *check.Fix) graph.Ref { return f.Object })
}

// FixSkipped says of an object why it is left alone.
func FixSkipped(object graph.Ref, because error) string {
	return Quoted(object) + " was left alone: " + Escape(because.Error())
}

// Adopted says in one line what was done about an owner of an object, as kubectl does: configmap/a
// adopted by deployment.apps/web. The suffix says that it was a dry run.
func Adopted(c *ownerref.Change, suffix string) string {
	object := TypeName(c.Object)
	if c.Nothing() {
		return object + " unchanged" + suffix
	}
	return object + " adopted by " + Escape(ownerref.Name(c.References[0])) + suffix
}

// Disowned is Adopted for references that were removed.
func Disowned(c *ownerref.Change, suffix string) string {
	object := TypeName(c.Object)
	if c.Nothing() {
		return object + " unchanged" + suffix
	}
	var names []string
	for _, r := range c.References {
		if name := Escape(ownerref.Name(r)); len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return object + " disowned by " + phrase.And(names) + suffix
}

// OwnersLeft says in a sentence what becomes of an object that has lost references; empty if
// nothing new does.
func OwnersLeft(c *ownerref.Change) string {
	names := phrase.Words(c.Left, func(o ownerref.Owner) string { return Escape(ownerref.Name(o.Reference)) })
	switch c.End {
	case ownerref.Unowned:
		return "it has no owner left: the garbage collector does not delete it any more"
	case ownerref.Collected:
		return fmt.Sprintf("the garbage collector deletes it: %s, which %s left, %s or %s being deleted", phrase.And(names),
			phrase.Plural(len(names), "is", "are"), phrase.Plural(len(names), "does not exist", "do not exist"),
			phrase.Plural(len(names), "is", "are"))
	case ownerref.Doubtful:
		return fmt.Sprintf("the garbage collector deletes it if %s, of which not all could be read, %s not exist",
			phrase.And(names), phrase.Plural(len(names), "does", "do"))
	}
	return ""
}
