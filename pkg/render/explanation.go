package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

const (
	// explainWidth is where the lines of an explanation are wrapped, on a terminal or not.
	explainWidth = 100
	// explainIndent is where the text of a line begins.
	explainIndent = 19
)

// risks and polarities say what the words of a pack mean.
var (
	risks = map[string]string{
		"none":           "nothing of value is lost",
		"leaks-external": "resources outside the cluster, or elsewhere in it, are left over and may cost money",
		"data-loss":      "data, or access to it, can be lost",
		"breaks-cluster": "the cluster, or much of what runs in it, can stop working",
	}
	polarities = map[string]string{
		"cleanup":            "work outside the object, which removal by hand skips",
		"guard":              "the object is kept while something uses it",
		"bookkeeping":        "something is recorded",
		"builtin-gc":         "the garbage collector's own",
		"opt-in-destructive": "honouring it deletes things, so that starting the controller again destroys them",
		"opt-in-protective":  "honouring it keeps things, and removal by hand deletes them",
	}
)

// Explanation writes what is known of finalizers, one after the other.
func Explanation(w io.Writer, e *v1alpha1.Explanation, s Style) error {
	out := bufio.NewWriter(w)
	for i, f := range e.Finalizers {
		if i > 0 {
			fmt.Fprintln(out)
		}
		explainOne(out, f, s)
	}
	return out.Flush()
}

func explainOne(w io.Writer, f v1alpha1.ExplainedFinalizer, s Style) {
	fmt.Fprintln(w, paint(s.kind, Escape(f.Name)))
	line := func(label string, texts ...string) { explainLines(w, s, label, texts) }
	if f.ByFormOnly {
		line("known by", "only the form of its name: the following is likely, not certain")
	}
	if f.Form != f.Name {
		line("entry", f.Form)
	}
	on := strings.Join(f.Kinds, ", ")
	if slices.Contains(f.Kinds, "*") {
		on = "any object"
	}
	if f.Field == "spec.finalizers" {
		on += ", in spec.finalizers"
	}
	line("on", on)
	by := f.Actor
	if f.Actor != f.Component {
		by += " (" + f.Component + ")"
	}
	line("removed by", by)
	line("which first", f.Does)
	line("removed by hand", f.IfRemoved)
	line("risk", meaning(f.Risk, risks))
	line("polarity", meaning(f.Polarity, polarities))
	line("advice", f.Before)
	line("to keep things", f.Knob)
	for i, p := range f.Protect {
		line(first(i, "save the data"), p.Does+":")
		// not wrapped: it is there to be copied
		fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", explainIndent+2), paint(s.kind, Escape(p.Command)))
	}
	if f.Claims != "" {
		line("deletes", "PersistentVolumeClaims with the labels "+f.Claims)
	}
	line("runs as", signWords(f.Signs)...)
	line("paused by", pauseWords(f.PausedBy)...)
	line("takes only", takeWords(f.Takes)...)
	line("needs", needWords(f.Needs)...)
	line("held by", heldWords(f.HeldBy)...)
	line("used by", useWords(f.UsedBy)...)
	if len(f.WaitsFor) > 0 {
		line("waits for", "dependents of the kinds "+strings.Join(f.WaitsFor, ", "))
	}
	if f.Parent != nil {
		line("added for", parentWords(*f.Parent))
	}
	line("note", f.Note)
	source := ""
	if f.Verified != "source" {
		source = " (seen in public code or in a change, not read in the source)"
	}
	line("source", f.Source+source)
}

func first(i int, label string) string {
	if i > 0 {
		return ""
	}
	return label
}

func meaning(word string, words map[string]string) string {
	if words[word] == "" {
		return word
	}
	return word + ": " + words[word]
}

// explainLines writes a label and texts below each other, each wrapped between words. Nothing is
// written without a text.
func explainLines(w io.Writer, s Style, label string, texts []string) {
	width := explainWidth
	if s.Width > explainIndent+leastWidth {
		width = min(width, s.Width)
	}
	for _, text := range texts {
		if text == "" {
			continue
		}
		for _, part := range wrap(Escape(text), width-explainIndent) {
			fmt.Fprintf(w, "  %s%s%s\n", paint(s.dim, label), strings.Repeat(" ", explainIndent-2-len(label)), part)
			label = ""
		}
	}
}

// ExplanationNames writes the finalizers, a line each.
func ExplanationNames(w io.Writer, e *v1alpha1.Explanation) error {
	names := phrase.Words(e.Finalizers, func(f v1alpha1.ExplainedFinalizer) string { return Escape(f.Name) + "\n" })
	slices.Sort(names)
	_, err := io.WriteString(w, strings.Join(slices.Compact(names), ""))
	return err
}

// FinalizersKnown writes a row for each entry.
func FinalizersKnown(w io.Writer, e *v1alpha1.Explanation, s Style) error {
	type entry = v1alpha1.ExplainedFinalizer
	return writeRows(w, s, []column[entry]{
		{header: "FINALIZER", cell: func(f entry) string { return Escape(f.Name) }, shorten: 1},
		{header: "REMOVED BY", cell: func(f entry) string { return Escape(f.Component) }, shorten: 1},
		{header: "RISK", cell: func(f entry) string { return f.Risk }},
		{header: "POLARITY", cell: func(f entry) string { return f.Polarity }},
		{header: "ON", cell: func(f entry) string { return Escape(strings.Join(f.Kinds, ",")) }, wide: true},
		{header: "PACK", cell: func(f entry) string { return Escape(f.Pack) }, wide: true},
	}, e.Finalizers)
}

// FinalizersPresent writes a row for each finalizer that was found and each type of object that has
// it, and how many nothing is known of.
func FinalizersPresent(w io.Writer, e *v1alpha1.Explanation, s Style) error {
	type present struct {
		v1alpha1.ExplainedFinalizer
		on v1alpha1.FinalizersOn
		by string
	}
	var rows []present
	unknown, names := map[string]bool{}, map[string]bool{}
	for _, f := range e.Finalizers {
		names[f.Name] = true
		by := f.Component
		switch {
		case f.ByFormOnly:
			by = "probably the " + f.Component
			unknown[f.Name] = true
		case !f.Known:
			by = "not known"
			unknown[f.Name] = true
		}
		for _, on := range f.Found {
			rows = append(rows, present{f, on, by})
		}
	}
	if len(rows) > 0 {
		if err := writeRows(w, s, []column[present]{
			{header: "FINALIZER", cell: func(p present) string { return Escape(p.Name) }, shorten: 1},
			{header: "ON", cell: func(p present) string { return Escape(typeOf(p.on)) }, shorten: 1},
			{header: "OBJECTS", cell: func(p present) string { return fmt.Sprint(p.on.Objects) }},
			{header: "DELETING", cell: func(p present) string { return fmt.Sprint(p.on.Deleting) }},
			{header: "REMOVED BY", cell: func(p present) string { return Escape(p.by) }, shorten: 1},
			{header: "RISK", cell: func(p present) string { return orDash(p.Risk) }},
			{header: "POLARITY", cell: func(p present) string { return orDash(p.Polarity) }, wide: true},
			{header: "PACK", cell: func(p present) string { return orDash(Escape(p.Pack)) }, wide: true},
		}, rows); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, presentSummary(len(names), len(unknown), len(e.Gaps) > 0))
	return err
}

func presentSummary(all, unknown int, gaps bool) string {
	text := phrase.Count(all, "finalizer") + " present"
	if gaps {
		text += " in the types that could be listed"
	}
	if unknown > 0 {
		text += fmt.Sprintf("; %d unknown", unknown)
	}
	return text
}

// typeOf names a type as resource.group.
func typeOf(on v1alpha1.FinalizersOn) string {
	group, _, found := strings.Cut(on.APIVersion, "/")
	if !found {
		return on.Resource
	}
	return cmp.Or(on.Resource, on.Kind) + "." + group
}
