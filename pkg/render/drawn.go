package render

import (
	"strings"
)

// drawn is an object in a drawing: the lines before it, Kind/name, and what is said of it behind.
type drawn struct{ prefix, ref, marks string }

func (d drawn) String() string { return d.prefix + d.ref + d.marks }

// cut keeps the lines, and of the marks what leaves room for the object.
func (d drawn) cut(to int) string {
	room := to - width(d.prefix)
	marks := ""
	if most := room - leastWidth; most >= leastOfAll {
		marks = brief(d.marks, most)
	}
	return d.prefix + briefRef(d.ref, room-width(marks)) + marks
}

// paint colours a cell with what is left of it.
func (d drawn) paint(cell string, p Palette) string {
	rest := strings.TrimPrefix(cell, d.prefix)
	kind, name, named := strings.Cut(rest, "/")
	if !named {
		return paint(p.dim, cell)
	}
	marks := ""
	if at := strings.Index(name, " ("); at >= 0 && d.marks != "" {
		name, marks = name[:at], name[at:]
	}
	return paint(p.dim, d.prefix) + paint(p.kind, kind) + "/" + name + paint(p.dim, marks)
}

// leastRef is how many columns of an object are drawn: more than of how many are not.
func (d drawn) leastRef() int {
	if strings.HasPrefix(d.ref, more) {
		return leastWidth
	}
	return min(width(d.ref), 22)
}

// more begins what takes the place of objects that are not drawn.
const more = "… "

// nameColumn is the column of what is drawn.
func nameColumn[R any](s Style, of func(R) drawn) column[R] {
	return column[R]{
		header: "NAME", shorten: 3,
		least: func(r R) int { return width(of(r).prefix) + of(r).leastRef() },
		cell:  func(r R) string { return of(r).String() },
		cut:   func(r R, to int) string { return of(r).cut(to) },
		paint: func(r R, cell string) string { return of(r).paint(cell, s.Palette) },
	}
}

// besideDrawing are the columns of a table that draws: a cell that says nothing is a dash, and one of
// a row of which the drawing is all is empty.
func besideDrawing[R any](onlyDrawn func(R) bool, columns []column[R]) []column[R] {
	for i, c := range columns {
		if c.paint == nil { // which the drawing has
			columns[i].cell = func(r R) string {
				if onlyDrawn(r) {
					return ""
				}
				return orDash(c.cell(r))
			}
		}
	}
	return columns
}
