package render

import (
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// namer names kinds: with their group only where two groups of the same tree have a kind of that name.
type namer struct{ ambiguous map[string]bool }

func newNamer(t Tree) namer {
	groups := map[string]string{}
	n := namer{ambiguous: map[string]bool{}}
	for _, row := range t.Rows {
		r := t.Graph.Ref(row.ID)
		if group, seen := groups[r.Kind]; seen && group != r.Group() {
			n.ambiguous[r.Kind] = true
		}
		groups[r.Kind] = r.Group()
	}
	return n
}

func (n namer) kind(r graph.Ref) string {
	if n.ambiguous[r.Kind] && r.Group() != "" {
		return r.Kind + "." + r.Group()
	}
	return r.Kind
}

// TreeNames writes one line for each object, as kubectl's -o name does: kind.group/name.
func TreeNames(w io.Writer, t Tree) error {
	var b strings.Builder
	written := make(map[graph.ID]bool, len(t.Rows)) // a row that --depth cuts can come again, nearer to a root
	for _, row := range t.Rows {
		if row.Hidden || written[row.ID] || !t.Graph.Observed(row.ID) {
			continue
		}
		written[row.ID] = true
		b.WriteString(TypeName(t.Graph.Ref(row.ID)) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Names writes the names of objects, one in a line.
func Names(w io.Writer, g *graph.Graph, ids []graph.ID) error {
	var rows []graph.Row
	for _, id := range ids {
		rows = append(rows, graph.Row{ID: id})
	}
	return TreeNames(w, Tree{Graph: g, Rows: rows})
}
