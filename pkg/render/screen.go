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
)

const (
	// named is how many objects of a cause are named.
	named = 3
	// indent is where the text of a field begins.
	indent = 12
	// readable is the width beyond which text is wrapped on any terminal.
	readable = 100
)

// write writes one cause: a screen at most, unless a wide one is wanted.
func (t *trouble) write(w io.Writer, now time.Time, s Style) {
	fmt.Fprintln(w, t.upcoming()+paint(s.bad, Escape(t.Code)))
	stuck, in, waiting := t.names(now)
	for _, line := range []struct {
		label string
		names []string
	}{{"stuck", stuck}, {"waiting", waiting}, {"in", in}} {
		if len(line.names) > 0 {
			field(w, s, line.label, shorten(line.names, s.Wide))
		}
	}
	if len(t.via) > 0 {
		field(w, s, "through", namesOf(t.via, true))
	}
	if t.Finalizer != "" {
		of := Escape(t.Finalizer)
		if t.Actor != "" {
			of += " of " + Escape(t.Actor)
		}
		field(w, s, "finalizer", of)
	}
	if t.Summary != "" {
		field(w, s, "cause", Escape(t.Summary))
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

// hanging writes a text whose lines all begin at a column.
func hanging(w io.Writer, s Style, at int, text string, c *color.Color) {
	for _, line := range wrap(text, s.columns()-at) {
		fmt.Fprintln(w, strings.Repeat(" ", at)+paint(c, line))
	}
}

// wrap breaks a text into lines of a width, unless that leaves no room.
func wrap(text string, width int) []string {
	if width < leastWidth {
		return []string{text}
	}
	lines, _ := twwarp.WrapString(text, width)
	return lines
}

func unexplained(w io.Writer, stuck v1alpha1.Stuck, now time.Time, s Style) {
	fmt.Fprintln(w, paint(s.bad, "no cause found"))
	field(w, s, "stuck", aged(stuck, now))
	label := "checked"
	for _, c := range stuck.Checked {
		field(w, s, label, Escape(c))
		label = ""
	}
	fmt.Fprintln(w)
}
