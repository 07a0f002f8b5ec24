package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// A table draws a tree down to a level, since each level moves all that is below to the right: on a
// terminal as far as a third of its width, elsewhere down to mostLevels. What lies deeper is counted.
// Other formats have all of it.
const (
	mostLevels  = 60
	leastLevels = 8
	levelWidth  = 2
)

func (s Style) levels() int {
	if s.Width == 0 || s.Wide {
		return mostLevels
	}
	return min(mostLevels, max(leastLevels, s.Width/3/levelWidth))
}

// Drawn returns the rows that a table in this style draws.
func (s Style) Drawn(rows []graph.Row) []graph.Row { return s.draw(rows).rows }

// drawing is what a table draws of a tree.
type drawing struct {
	rows   []graph.Row
	levels int
	// deeper counts, by the place of a row, the objects that lie below it and are not drawn there;
	// total counts all such objects.
	deeper map[int]int
	total  int
	// first is the first row below which something is not drawn, and next what is not drawn there.
	first, next graph.Row
	undrawn     map[graph.ID]bool // the objects that are expanded where they are not drawn
}

func (s Style) draw(rows []graph.Row) drawing {
	d := drawing{levels: s.levels(), deeper: map[int]int{}, undrawn: map[graph.ID]bool{}}
	under := map[graph.ID]int{} // the row below which an object was counted last
	for _, row := range rows {
		if row.Indent < d.levels {
			d.rows = append(d.rows, row)
			continue
		}
		at := len(d.rows) - 1
		if len(d.deeper) == 0 {
			d.first, d.next = d.rows[at], row
		}
		if last, counted := under[row.ID]; !counted || last != at {
			under[row.ID] = at
			d.deeper[at]++
		}
		if row.Repeat == graph.First {
			d.undrawn[row.ID] = true
		}
	}
	d.total = len(under)
	return d
}

// mark says why a row is not expanded.
func (d drawing) mark(row graph.Row) string {
	switch {
	case row.Hidden:
		return " (hidden, expanded above)"
	case row.Repeat == graph.Cycle:
		return " (cycle)"
	case row.Repeat == graph.Elsewhere && d.undrawn[row.ID]:
		return " (expanded deeper, not drawn)"
	case row.Repeat == graph.Elsewhere:
		return " (shown above)"
	}
	return ""
}

// more is the row that takes the place of what is not drawn below the row at a place, empty for
// none.
func (d drawing) more(at int, prefix *prefixes) drawn {
	n := d.deeper[at]
	if n == 0 {
		return drawn{}
	}
	return drawn{prefix: prefix.next(graph.Row{Indent: d.rows[at].Indent + 1, Last: true}),
		ref: more + liesDeeper(phrase.Count(n, "more object"), n)}
}

func liesDeeper(objects string, n int) string {
	return objects + phrase.Plural(n, " lies", " lie") + " deeper"
}

// footer says how to see what is not drawn.
func (d drawing) footer(w io.Writer, g *graph.Graph, s Style) error {
	if d.total == 0 {
		return nil
	}
	text := fmt.Sprintf("%s than %d levels; -o json has all of it", liesDeeper(phrase.Count(d.total, "object"), d.total),
		d.levels)
	if named := g.Ref(d.first.ID).Arguments(); named != nil {
		words := append([]string{"kubectl", "gc", "tree"}, named...)
		if d.next.Link == "" && d.next.Via.Dependent != d.next.ID {
			words = append(words, "--owners")
		}
		text += "; what is below the first of them: " + Escape(phrase.Command(words...))
	}
	return notes(w, s, nil, text)
}

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
