package render

import (
	"io"

	"github.com/moby/term"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Style is how a table is written.
type Style struct {
	Palette
	// Wide adds columns, and shortens nothing.
	Wide bool
	// Width is how many columns the terminal has, 0 for no bound: what is not written to a terminal
	// is never shortened to fit it.
	Width int
	// NoHeaders leaves out the first line of a table.
	NoHeaders bool
}

// NewStyle decides on colour and width for what is written to out.
func NewStyle(when When, out io.Writer, wide bool) Style {
	return Style{Palette: NewPalette(when, out), Wide: wide, Width: TerminalWidth(out)}
}

// TerminalWidth is how many columns the terminal has that out is, 0 if it is none or does not say.
func TerminalWidth(out io.Writer) int {
	fd, terminal := term.GetFdInfo(out)
	if !terminal {
		return 0
	}
	size, err := term.GetWinsize(fd)
	if err != nil {
		return 0
	}
	return int(size.Width)
}

// leastWidth is what a column is not shortened below.
const leastWidth = 16

// gap is the space between two columns.
const gap = 3

// fit shortens the cells of the given columns, the widest first, until the table fits the style's
// width or they are as short as they may be: lines that wrap make a table unreadable. It is false
// if they wrap all the same. The cells of these columns must not be coloured.
func (s Style) fit(header []string, rows [][]string, shorten ...int) bool {
	if s.Width == 0 || s.Wide {
		return true
	}
	widths := columnWidths(header, rows)
	excess := gap*(len(header)-1) - s.Width
	for _, w := range widths {
		excess += w
	}
	for excess > 0 {
		widest := -1
		for _, i := range shorten {
			if widths[i] > leastWidth && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return false
		}
		to := max(leastWidth, widths[widest]-excess)
		excess -= widths[widest] - to
		widths[widest] = to
		for _, row := range rows {
			if width(row[widest]) > to {
				row[widest] = twwidth.Truncate(row[widest], to, "…")
			}
		}
	}
	return true
}
