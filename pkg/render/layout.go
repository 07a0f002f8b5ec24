package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fatih/color"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// column is a column of a table, a row of which is an R.
type column[R any] struct {
	header string
	cell   func(R) string
	// shorten says when the cells are shortened so that the table fits: those with 1 before those
	// with 2, and never those with 0. They are coloured only afterwards, by color or paint.
	shorten int
	// least is what a row needs of a width, as long as another column can be left out; leastWidth
	// if it is nil.
	least func(R) int
	// drop says when the column is left out of a table that does not fit: 1 before 2, 0 never.
	drop int
	// cut writes a cell in so many columns; brief if it is nil.
	cut   func(row R, to int) string
	color func(R) *color.Color
	// paint colours a part of a cell.
	paint func(row R, cell string) string
	// wide leaves the column out of a table that is not, and unused out of every table.
	wide, unused bool
}

// writeRows writes a table, and which columns are not in it for want of room.
func writeRows[R any](w io.Writer, s Style, columns []column[R], rows []R) error {
	var shown []column[R]
	if s.Cluster != "" {
		shown = append(shown, column[R]{header: "CLUSTER", cell: func(R) string { return Escape(s.Cluster) }})
	}
	for _, c := range columns {
		if !c.unused && (s.Wide || !c.wide) {
			shown = append(shown, c)
		}
	}
	cells := make([][]string, len(rows))
	for i, row := range rows {
		cells[i] = make([]string, len(shown))
		for j, c := range shown {
			cells[i][j] = c.cell(row)
		}
	}
	var dropped []string
	if s.Width > 0 && !s.Wide {
		shown, cells, dropped = fit(s, shown, rows, cells)
	}
	header := make([]string, len(shown))
	for j, c := range shown {
		header[j] = c.header
		for i, row := range rows {
			if c.paint != nil {
				cells[i][j] = c.paint(row, cells[i][j])
			}
			if c.color != nil {
				cells[i][j] = paint(c.color(row), cells[i][j])
			}
		}
	}
	if err := s.writeTable(w, header, cells); err != nil || len(dropped) == 0 {
		return err
	}
	return notes(w, s, nil, fmt.Sprintf("(the terminal is too narrow for the %s %s: -o wide shows %s)",
		phrase.Plural(len(dropped), "column", "columns"), phrase.And(dropped), phrase.Plural(len(dropped), "it", "them")))
}

// fit shortens cells, the widest column first, and leaves out columns, until the table is no wider
// than the terminal: lines that wrap make a table unreadable. It returns the columns that are left,
// their cells, and the headers of the others.
func fit[R any](s Style, columns []column[R], rows []R, cells [][]string) (
	shown []column[R], fitting [][]string, dropped []string,
) {
	shown = slices.Clone(columns)
	spans := make([]span, len(shown))
	for j, c := range shown {
		head := max(width(c.header), leastOfAll)
		spans[j] = span{natural: width(c.header), least: head, floor: head}
		for i, row := range rows {
			spans[j].natural = max(spans[j].natural, width(cells[i][j]))
			if c.least != nil {
				spans[j].least = max(spans[j].least, c.least(row))
			}
		}
		if c.least == nil {
			spans[j].least = max(head, leastWidth)
		}
	}
	widths := narrowed(s.Width, shown, spans, true)
	for widths == nil {
		next := -1
		for j, c := range shown {
			if c.drop > 0 && (next < 0 || c.drop < shown[next].drop) {
				next = j
			}
		}
		if next < 0 {
			widths = narrowed(s.Width, shown, spans, false)
			break
		}
		dropped = append(dropped, shown[next].header)
		shown, spans = slices.Delete(shown, next, next+1), slices.Delete(spans, next, next+1)
		for i := range cells {
			cells[i] = slices.Delete(cells[i], next, next+1)
		}
		widths = narrowed(s.Width, shown, spans, true)
	}
	return shown, shortened(shown, rows, cells, widths), dropped
}

// span is how wide a column would be, how wide it has to be as long as another can be left out, and
// how wide it has to be.
type span struct{ natural, least, floor int }

// narrowed are the widths of columns that fit a terminal; nil if none do and one can be left out.
func narrowed[R any](terminal int, columns []column[R], spans []span, comfortable bool) []int {
	widths := make([]int, len(columns))
	excess := gap*(len(columns)-1) - terminal
	for j, s := range spans {
		widths[j] = s.natural
		excess += s.natural
	}
	for when := 1; when <= lastShortened; when++ {
		for excess > 0 {
			widest := -1
			for j, c := range columns {
				to := spans[j].floor
				if comfortable {
					to = spans[j].least
				}
				if c.shorten == when && widths[j] > to && (widest < 0 || widths[j] > widths[widest]) {
					widest = j
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
			excess--
		}
	}
	if excess > 0 && comfortable {
		return nil
	}
	return widths
}

const (
	// lastShortened is the greatest value of a column's shorten.
	lastShortened = 3
	// leastWidth is what a column is not shortened below, if it can be helped.
	leastWidth = 16
	// leastSentence is what a column of sentences is not shortened below.
	leastSentence = 20
	// leastOfAll is what no column is shortened below.
	leastOfAll = 8
)

// shortened are the cells of a table in so many columns each. Rows that differ as far as a shortened
// cell look different as far as that: of those that would look the same, each but the first has its
// number where something is left out. What tells them apart must not be a column further on, which
// says something else and may be dropped.
func shortened[R any](columns []column[R], rows []R, cells [][]string, widths []int) [][]string {
	short := make([][]string, len(cells))
	looks := map[string][]string{} // the rows that look the same as far as a column
	for i, row := range rows {
		short[i] = slices.Clone(cells[i])
		for j, c := range columns {
			if width(cells[i][j]) <= widths[j] {
				continue
			}
			short[i][j] = c.shortTo(row, cells[i][j], widths[j])
			whole, look := strings.Join(cells[i][:j+1], "\x00"), strings.Join(short[i][:j+1], "\x00")
			n := slices.Index(looks[look], whole)
			if n < 0 {
				n = len(looks[look])
				looks[look] = append(looks[look], whole)
			}
			if n > 0 {
				number := fmt.Sprint(n + 1)
				cut := c.shortTo(row, cells[i][j], widths[j]-len(number)-1)
				short[i][j] = strings.Replace(cut, "…", "…"+number+"…", 1)
			}
		}
	}
	return short
}

func (c column[R]) shortTo(row R, cell string, to int) string {
	if c.cut != nil {
		return c.cut(row, to)
	}
	return brief(cell, to)
}
