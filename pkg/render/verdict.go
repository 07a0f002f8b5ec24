package render

import (
	"io"
	"slices"
	"strconv"

	"github.com/fatih/color"

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
	// Needs is what it takes nevertheless: a flag, or a confirmation.
	Needs string
	// Number is what it is chosen by, from 1; 0 leaves the column out.
	Number int
}

// VerdictTable writes the verdicts, one in a row. NEEDS is left out where nothing is needed.
func VerdictTable(w io.Writer, verdicts []Verdict, s Style) error {
	columns := []column[Verdict]{
		{header: "NAMESPACE", cell: func(v Verdict) string { return orDash(Escape(v.Object.Namespace)) }, shorten: 1},
		{header: "NAME", cell: func(v Verdict) string { return KindName(v.Object) }, shorten: 1},
		{header: "FINALIZER", cell: func(v Verdict) string { return orDash(Escape(v.Finalizer)) }, shorten: 1},
		{header: "ALIVE", cell: func(v Verdict) string { return orDash(v.Life) }, drop: 1},
		{header: "VERDICT", cell: func(v Verdict) string { return v.Verdict }, shorten: 3, least: func(v Verdict) int {
			return width(v.Verdict) // it says why
		}, color: func(v Verdict) *color.Color {
			if v.Refused {
				return s.bad
			}
			return nil
		}},
		{header: "NEEDS", cell: func(v Verdict) string { return orDash(v.Needs) }},
		{header: "REMOVED-BY", cell: func(v Verdict) string { return orDash(Escape(v.Who)) }, wide: true},
		{header: "UID", cell: func(v Verdict) string { return Escape(v.Object.UID) }, wide: true},
	}
	if !slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Needs != "" }) {
		columns = slices.DeleteFunc(columns, func(c column[Verdict]) bool { return c.header == "NEEDS" })
	}
	if len(verdicts) > 0 && verdicts[0].Number > 0 {
		columns = slices.Insert(columns, 0,
			column[Verdict]{header: "#", cell: func(v Verdict) string { return strconv.Itoa(v.Number) }})
	}
	return writeRows(w, s, columns, verdicts)
}
