package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/olekukonko/tablewriter/pkg/twwarp"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

const (
	// named is how many objects of a cause are named.
	named = 3
	// indent is where the text of a field begins.
	indent = 12
	// readable is the width beyond which text is wrapped on any terminal.
	readable = 100
)

// write writes one cause: a screen at most, unless a wide one is wanted. What lives is a line.
func (t *trouble) write(w io.Writer, now time.Time, s Style) {
	opening(w, s, t.headline())
	if t.lives() {
		return
	}
	stuck, in, waiting := t.roles()
	for _, line := range []struct{ label, names string }{
		{"stuck", allAged(stuck, now, s.Wide)}, {"waiting", allAged(waiting, now, s.Wide)}, {"in", namesOf(in, s.Wide)},
	} {
		if line.names != "" {
			field(w, s, line.label, line.names)
		}
	}
	if len(t.via) > 0 {
		field(w, s, "through", namesOf(t.via, true))
	}
	if t.Finalizer != "" {
		of := Escape(phrase.And(t.finalizers))
		if t.Actor != "" {
			of += " of " + Escape(t.Actor)
		}
		field(w, s, "finalizer", of)
	}
	t.seen(w, s)
	if cost := t.cost(); cost != "" {
		field(w, s, "cost", Escape(cost))
	}
	t.remedy(w, s)
	fmt.Fprintln(w)
}

// cost says what removing the finalizer costs, data first.
func (t *trouble) cost() string {
	const destroyed = "Data are destroyed"
	if t.DataLoss && !strings.HasPrefix(t.Cost, destroyed) && (t.Cost == "" || slices.ContainsFunc(t.Steps, losesData)) {
		return strings.TrimSpace(destroyed + ". " + t.Cost)
	}
	return t.Cost
}

func losesData(s v1alpha1.Step) bool { return s.Risk == "data-loss" }

// upcoming marks a cause that comes up only when those before it are out of the way.
func (t *trouble) upcoming() string {
	if t.After > 0 {
		return "then: "
	}
	return ""
}

// seen writes what was seen everywhere, and then what was seen at single objects.
func (t *trouble) seen(w io.Writer, s Style) {
	label := "evidence"
	for _, e := range t.shared() {
		field(w, s, label, Escape(e))
		label = ""
	}
	own := t.own()
	for i, o := range own {
		if i == named && !s.Wide {
			field(w, s, label, fmt.Sprintf("and %d more that differ; -o wide writes all", len(own)-named))
			return
		}
		for _, e := range o.evidence {
			field(w, s, label, shorten(o.names, s.Wide)+": "+Escape(e))
			label = ""
		}
	}
}

// columns is how wide text may be, 0 for no bound.
func (s Style) columns() int { return min(s.Width, readable) }

// field writes a label and a text, which is wrapped if it is written to a terminal. Lines after the
// first are set in.
func field(w io.Writer, s Style, label, text string) {
	fmt.Fprintf(w, "  %s%s", paint(s.dim, label), strings.Repeat(" ", indent-2-len(label)))
	for i, line := range wrap(text, s.columns()-indent-2) {
		if i > 0 {
			fmt.Fprint(w, strings.Repeat(" ", indent+2))
		}
		fmt.Fprintln(w, line)
	}
}

// fields writes a label and texts below each other.
func fields(w io.Writer, s Style, label string, texts []string) {
	for _, text := range texts {
		field(w, s, label, Escape(text))
		label = ""
	}
}

// opening writes the sentence that a cause begins with, wrapped as a field is.
func opening(w io.Writer, s Style, text string) {
	for i, line := range wrap(text, s.columns()-noteIndent) {
		if i > 0 {
			fmt.Fprint(w, strings.Repeat(" ", noteIndent))
		}
		fmt.Fprintln(w, paint(s.bad, line))
	}
}

// hanging writes a text whose lines all begin at a column.
func hanging(w io.Writer, s Style, at int, text string, c *color.Color) {
	for _, line := range wrap(text, s.columns()-at) {
		fmt.Fprintln(w, strings.Repeat(" ", at)+paint(c, line))
	}
}

// Paragraphs writes lines, wrapped between words if they are written to a terminal.
func Paragraphs(w io.Writer, lines []string, s Style) error { return notes(w, s, nil, lines...) }

// notes writes lines below a table, wrapped if they are written to a terminal. What is carried over
// stands further in than the line that it belongs to, but for a command.
func notes(w io.Writer, s Style, c *color.Color, texts ...string) error {
	for _, whole := range texts {
		if s.Called != "" {
			whole = strings.ReplaceAll(whole, gc, s.Called)
		}
		text := strings.TrimLeft(whole, " ")
		at := len(whole) - len(text)
		lines := []string{text}
		if s.Width > 0 && width(whole) > s.Width {
			lines = wrap(text, s.Width-at-noteIndent)
		}
		for i, line := range lines {
			in := at
			if i > 0 && !strings.HasPrefix(line, program) {
				in += noteIndent
			}
			if _, err := fmt.Fprintln(w, strings.Repeat(" ", in)+paint(c, s.drawn(line))); err != nil {
				return err
			}
		}
	}
	return nil
}

// note writes a line for people to stderr, wrapped as notes are where that is a terminal.
func note(errOut io.Writer, format string, args ...any) {
	s := NewStyle(Never, errOut, false)
	_ = notes(errOut, s, nil, fmt.Sprintf(format, args...)) // as fmt.Fprintf
}

// Warn writes a warning to stderr, wrapped as notes are.
func Warn(errOut io.Writer, format string, args ...any) {
	Message(errOut, "Warning: ", fmt.Sprintf(format, args...))
}

// Message writes an error or a hint to stderr, wrapped as notes are. The label is no part of a command
// that follows it.
func Message(errOut io.Writer, label, text string) {
	s := NewStyle(Never, errOut, false)
	for _, whole := range strings.Split(text, "\n") {
		lines := []string{whole}
		if s.Width > 0 && width(label+whole) > s.Width {
			lines = wrap(whole, s.Width-max(width(label), noteIndent))
		}
		for i, line := range lines {
			if i > 0 && !strings.HasPrefix(line, program) {
				label = strings.Repeat(" ", noteIndent)
			}
			fmt.Fprintln(errOut, label+s.drawn(line))
			label = ""
		}
	}
}

const (
	// noteIndent is how far the second line of a note is set in.
	noteIndent = 2
	// program begins a command.
	program = "kubectl "
	// gc is how sentences name this program.
	gc = "kubectl gc"
)

// wrap breaks a text into lines of a width, unless that leaves no room. A command at its end, and a
// word that is too long, have a line of their own: they are there to be copied.
func wrap(text string, most int) []string {
	if most < leastWidth || width(text) <= most {
		return []string{text}
	}
	text, command, _ := strings.Cut(text, ": "+program)
	if command != "" {
		text += ":"
	}
	var lines, words []string
	end := func() {
		if len(words) > 0 {
			broken, _ := twwarp.WrapString(strings.Join(words, " "), most)
			lines, words = append(lines, broken...), nil
		}
	}
	for _, word := range twwarp.SplitWords(text) {
		if width(word) > most {
			end()
			lines = append(lines, word)
			continue
		}
		words = append(words, word)
	}
	end()
	if command != "" {
		lines = append(lines, program+command)
	}
	return lines
}

func unexplained(w io.Writer, stuck v1alpha1.Stuck, now time.Time, s Style) {
	opening(w, s, withoutCause(stuck))
	field(w, s, "stuck", aged(stuck, now))
	fields(w, s, "checked", stuck.Checked)
	fmt.Fprintln(w)
}

// withoutCause says that no cause was found of an object that is stuck, or may be.
func withoutCause(stuck v1alpha1.Stuck) string {
	is := ": "
	if stuck.Since != nil {
		is = " is stuck, and "
	}
	return qualified(stuck.Object) + is + "no cause was found."
}
