package render

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// writeTable writes rows as kubectl get does: left-aligned columns three spaces apart, no lines,
// nothing wrapped and no spaces at the end of a line; without the header if the style says so.
// Trees have a hundred thousand rows, and each takes less than a microsecond for a cell;
// tablewriter's own renderer takes ten.
func (s Style) writeTable(w io.Writer, header []string, rows [][]string) error {
	if s.NoHeaders {
		header = make([]string, len(header)) // which takes no room
	}
	widths := columnWidths(header, rows)
	out := bufio.NewWriter(w)
	line := func(cells []string) error {
		last := len(cells) - 1
		for last > 0 && strings.Trim(cells[last], " ") == "" {
			last--
		}
		for i, cell := range cells[:last] {
			_, _ = out.WriteString(s.drawn(cell)) // a writer that fails says so at the end
			spaces(out, widths[i]-width(cell)+gap)
		}
		_, _ = out.WriteString(s.drawn(strings.TrimRight(cells[last], " ")))
		return out.WriteByte('\n')
	}
	if !s.NoHeaders {
		if err := line(header); err != nil {
			return err
		}
	}
	for _, row := range rows {
		if err := line(row); err != nil {
			return err
		}
	}
	return out.Flush()
}

// columnWidths are how wide the widest cell of each column is on a terminal.
func columnWidths(header []string, rows [][]string) []int {
	widths := make([]int, len(header))
	for i, cell := range header {
		widths[i] = width(cell)
	}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell))
		}
	}
	return widths
}

func spaces(out *bufio.Writer, n int) {
	const some = "                                                                "
	for ; n > len(some); n -= len(some) {
		_, _ = out.WriteString(some)
	}
	_, _ = out.WriteString(some[:max(0, n)])
}

// width is how many columns of a terminal a text takes, colors left out. Most texts end in ASCII,
// of which each character takes one; what stands before, as the lines of a tree and a color, comes
// again and again, and the library remembers it.
func width(s string) int {
	from := len(s) // where the plain end begins
	for from > 0 && s[from-1] >= ' ' && s[from-1] < utf8.RuneSelf-1 {
		from--
	}
	if from == 0 {
		return len(s)
	}
	if s[from-1] == '\x1b' { // the rest of a color belongs to it
		end := strings.IndexByte(s[from:], 'm')
		if end < 0 {
			return twwidth.Width(s)
		}
		from += end + 1
	}
	return twwidth.Width(s[:from]) + len(s) - from
}
