package render

import (
	"io"

	"github.com/fatih/color"
)

// column is a column of a table, a row of which is an R.
type column[R any] struct {
	header string
	cell   func(R) string
	// shorten says when the cells are shortened so that the table fits: those with 1 before those
	// with 2, and never those with 0. They are coloured only afterwards, by color.
	shorten int
	color   func(R) *color.Color
	// wide leaves the column out of a table that is not.
	wide bool
}

// writeRows writes a table.
func writeRows[R any](w io.Writer, s Style, columns []column[R], rows []R) error {
	header, cells, _ := lay(s, columns, rows)
	return s.writeTable(w, header, cells)
}

// lay returns the header and the cells of a table, and whether they fit the style's width.
func lay[R any](s Style, columns []column[R], rows []R) (header []string, cells [][]string, fits bool) {
	var shown []column[R]
	for _, c := range columns {
		if s.Wide || !c.wide {
			shown, header = append(shown, c), append(header, c.header)
		}
	}
	cells = make([][]string, len(rows))
	for i, row := range rows {
		cells[i] = make([]string, len(shown))
		for j, c := range shown {
			cells[i][j] = c.cell(row)
		}
	}
	fits = true
	for when := 1; when <= 2; when++ {
		var shorten []int
		for j, c := range shown {
			if c.shorten == when {
				shorten = append(shorten, j)
			}
		}
		if len(shorten) > 0 {
			fits = s.fit(header, cells, shorten...)
		}
	}
	for j, c := range shown {
		for i, row := range rows {
			if c.color != nil {
				cells[i][j] = paint(c.color(row), cells[i][j])
			}
		}
	}
	return header, cells, fits
}
