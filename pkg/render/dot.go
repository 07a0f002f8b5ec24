package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TreeDOT writes the tree as a graph for Graphviz. As in the collector's own dump (dump.go), there
// is one node for a uid; unlike there, edges point from the owner to its dependent, as those of a
// page do, so that owners stand above.
func TreeDOT(w io.Writer, t Tree) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "strict digraph full {")
	nodes, edges := t.parts()
	for _, id := range nodes {
		r := t.Graph.Ref(id)
		style := ""
		if c, ok := stateColors[t.Graph.State(id)]; ok {
			style = fmt.Sprintf(" style=%q color=%q fillcolor=%q", c.style, c.line, c.fill)
		}
		fmt.Fprintf(out, "  n%d [label=%s group=%s%s]\n", id, quoteDOT(strings.Join(label(r, t.Graph.State(id)), "\n")),
			quoteDOT(Escape(r.Namespace)), style)
	}
	for _, e := range edges {
		attributes := ""
		switch {
		case e.link != "":
			attributes = fmt.Sprintf(" [style=dotted label=%s]", quoteDOT(Escape(e.link)))
		case !e.block:
			attributes = " [style=dashed]"
		}
		fmt.Fprintf(out, "  n%d -> n%d%s\n", e.owner, e.dependent, attributes)
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// stateColors are those of an object's state on a page, in the light; what simply exists has none.
var stateColors = map[graph.State]struct{ line, fill, style string }{
	graph.Deleting: {"#a34700", "#fff1e3", "filled"},
	graph.Absent:   {"#b3101f", "#ffecec", "filled,dashed"},
	graph.Unknown:  {"#6a2c9c", "#f6ecff", "filled,dashed"},
}

// TreeMermaid writes the tree as a Mermaid flowchart, which code hosting sites draw in documents.
func TreeMermaid(w io.Writer, t Tree) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "flowchart LR")
	var classes []string
	nodes, edges := t.parts()
	for _, id := range nodes {
		class := ""
		if c, ok := stateColors[t.Graph.State(id)]; ok {
			class = ":::" + t.Graph.State(id).String()
			if !slices.Contains(classes, class) {
				classes = append(classes, class)
				fmt.Fprintf(out, "  classDef %s stroke:%s,fill:%s,color:#17191c\n", t.Graph.State(id), c.line, c.fill)
			}
		}
		fmt.Fprintf(out, "  n%d[%s]%s\n", id, quoteMermaid(label(t.Graph.Ref(id), t.Graph.State(id))...), class)
	}
	for _, e := range edges {
		arrow := "-.->"
		switch {
		case e.link != "":
			arrow = fmt.Sprintf("-.->|%s|", quoteMermaid(Escape(e.link)))
		case e.block:
			arrow = "-->"
		}
		fmt.Fprintf(out, "  n%d %s n%d\n", e.owner, arrow, e.dependent)
	}
	return out.Flush()
}

// drawnEdge is an edge between two shown objects.
type drawnEdge struct {
	dependent, owner graph.ID
	block            bool
	link             string
}

// between labels an edge that stands for several, by way of objects that are not shown.
const between = "…"

// parts returns the objects that the tree shows and all references among them, each once. Where
// what leads to a row is not shown, an edge to the row above it takes its place.
func (t Tree) parts() (nodes []graph.ID, edges []drawnEdge) {
	shown := make(map[graph.ID]bool, len(t.Rows))
	drawn := map[drawnEdge]bool{}
	draw := func(e drawnEdge) {
		if !drawn[e] {
			drawn[e] = true
			edges = append(edges, e)
		}
	}
	var path []graph.ID
	for _, row := range t.Rows {
		if !shown[row.ID] {
			shown[row.ID] = true
			nodes = append(nodes, row.ID)
		}
		path = append(path[:row.Indent], row.ID)
		if row.Indent == 0 {
			continue
		}
		above := path[row.Indent-1]
		upwards := row.Link == "" && row.Via.Dependent != row.ID
		switch {
		case row.Link != "" && row.LinkOwner == above:
			draw(drawnEdge{dependent: row.ID, owner: above, link: row.Link})
		case upwards && row.Via.Dependent != above:
			draw(drawnEdge{dependent: above, owner: row.ID, link: between})
		case !upwards && (row.Link != "" || row.Via.Owner != above):
			draw(drawnEdge{dependent: row.ID, owner: above, link: between})
		}
	}
	for _, id := range nodes {
		for e := range t.Graph.Owners(id) {
			if shown[e.Owner] {
				draw(drawnEdge{dependent: id, owner: e.Owner, block: e.Block})
			}
		}
	}
	return nodes, edges
}

// label returns the lines of an object's label.
func label(r graph.Ref, s graph.State) []string {
	lines := []string{KindName(r)}
	if r.Namespace != "" {
		lines = append(lines, Escape(r.Namespace))
	}
	if s != graph.Active {
		lines = append(lines, s.String())
	}
	return lines
}

// dotEscapes are of what means something between quotes; Graphviz would read entities there.
var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "&", "&amp;")

// quoteDOT quotes a text.
func quoteDOT(s string) string { return `"` + dotEscapes.Replace(s) + `"` }

// mermaidEntities spells out what means something to Mermaid or to the HTML that it makes, even
// between quotes: comments and directives (%%), Markdown, line breaks (\n), formulas ($$) and
// entities. It looks for line breaks and formulas when the entities are read already, so that a
// word joiner, which is not seen, stands between their characters.
var mermaidEntities = strings.NewReplacer(
	`\n`, "#92;#8288;n", "$", "#36;#8288;", `#`, "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`",
	"#96;", `\`, "#92;", "%", "#37;",
)

// quoteMermaid quotes the lines of a text.
func quoteMermaid(lines ...string) string {
	for i := range lines {
		lines[i] = mermaidEntities.Replace(lines[i])
	}
	return `"` + strings.Join(lines, "<br/>") + `"`
}
