package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

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
	header := []string{"NAMESPACE", "NAME", "FINALIZER", "ALIVE", "VERDICT"}
	if s.Wide {
		header = append(header, "REMOVED-BY", "UID")
	}
	rows := make([][]string, len(verdicts))
	for i, v := range verdicts {
		r := v.Object
		rows[i] = []string{
			orDash(Escape(r.Namespace)), KindName(r), orDash(Escape(v.Finalizer)), orDash(v.Life), v.Verdict,
		}
		if s.Wide {
			rows[i] = append(rows[i], orDash(Escape(v.Who)), Escape(r.UID))
		}
	}
	verdict := 4
	if len(verdicts) > 0 && verdicts[0].Number > 0 {
		header, rows = numbered(header, rows, verdicts)
		verdict++
	}
	s.fit(header, rows, verdict-4, verdict-3, verdict-2)
	for i, v := range verdicts {
		if v.Refused {
			rows[i][verdict] = paint(s.bad, rows[i][verdict])
		}
	}
	return s.writeTable(w, header, rows)
}

// numbered puts the numbers in front.
func numbered(header []string, rows [][]string, verdicts []Verdict) ([]string, [][]string) {
	all := make([][]string, len(rows))
	for i, row := range rows {
		all[i] = append([]string{strconv.Itoa(verdicts[i].Number)}, row...)
	}
	return append([]string{"#"}, header...), all
}

// Paragraphs writes lines, wrapped between words if they are written to a terminal. What is carried over stands two spaces further in than the line
// that it belongs to.
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
