package render

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fatih/color"
	"github.com/olekukonko/tablewriter/pkg/twwarp"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Verdict is a row of the table of what is to be done about finalizers.
type Verdict struct {
	Object graph.Ref
	// Finalizer is empty for an object that has none.
	Finalizer string
	// Who removes it, and whether that is alive; empty for who is not known.
	Who, Life string
	// Verdict says in a few words what is to be done; Refused that it is not.
	Verdict string
	Refused bool
	// Number is what it is chosen by, from 1; 0 leaves the column out.
	Number int
}

// VerdictTable writes the verdicts, one in a row.
func VerdictTable(w io.Writer, verdicts []Verdict, s Style) error {
	columns := []column[Verdict]{
		{header: "NAMESPACE", cell: func(v Verdict) string { return orDash(Escape(v.Object.Namespace)) }, shorten: 1},
		{header: "NAME", cell: func(v Verdict) string { return KindName(v.Object) }, shorten: 1},
		{header: "FINALIZER", cell: func(v Verdict) string { return orDash(Escape(v.Finalizer)) }, shorten: 1},
		{header: "ALIVE", cell: func(v Verdict) string { return orDash(v.Life) }},
		{header: "VERDICT", cell: func(v Verdict) string { return v.Verdict }, color: func(v Verdict) *color.Color {
			if v.Refused {
				return s.bad
			}
			return nil
		}},
		{header: "REMOVED-BY", cell: func(v Verdict) string { return orDash(Escape(v.Who)) }, wide: true},
		{header: "UID", cell: func(v Verdict) string { return Escape(v.Object.UID) }, wide: true},
	}
	if len(verdicts) > 0 && verdicts[0].Number > 0 {
		columns = slices.Insert(columns, 0,
			column[Verdict]{header: "#", cell: func(v Verdict) string { return strconv.Itoa(v.Number) }})
	}
	return writeRows(w, s, columns, verdicts)
}

// Paragraphs writes lines, wrapped between words if they are written to a terminal. What is carried
// over stands two spaces further in than the line that it belongs to.
func Paragraphs(w io.Writer, lines []string, s Style) error {
	for _, line := range lines {
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		parts := []string{text}
		if s.Width > indent+2 && len(line) > s.Width {
			parts, _ = twwarp.WrapString(text, s.Width-indent-2)
		}
		for i, part := range parts {
			if i == 1 {
				indent += 2
			}
			if _, err := fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", indent), part); err != nil {
				return err
			}
		}
	}
	return nil
}
