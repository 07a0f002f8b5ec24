package render

import (
	"fmt"
	"io"

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
	if n == 1 {
		return objects + " lies deeper"
	}
	return objects + " lie deeper"
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
