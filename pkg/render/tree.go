package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Tree is what there is to show of a tree.
type Tree struct {
	Graph *graph.Graph
	Rows  []graph.Row
	// Readings are by node; a node without one is shown without.
	Readings map[graph.ID]graph.PrinterColumns
	// Labels are by node, and nil if they are not shown. Those of a node that has none here could not be read.
	Labels map[graph.ID]map[string]string
	// Now is what ages are measured against.
	Now time.Time
}

// TreeTable writes the tree as a table, down to a level, and how many objects lie deeper. A wide one adds how each object is owned and its uid.
func TreeTable(w io.Writer, t Tree, s Style) error {
	p, wide := s.Palette, s.Wide
	header := []string{"NAMESPACE", "NAME", "STATE", "READY", "FINALIZERS", "AGE"}
	if wide {
		header = append(header, "EDGE", "OWNERS", "UID")
	}
	if t.Labels != nil {
		header = append(header, "LABELS")
	}
	names := newNamer(t)
	drawing := s.draw(t.Rows)
	rows := make([][]string, 0, len(drawing.rows))
	colors := make([]*color.Color, 0, len(drawing.rows)) // of the state of each row
	prefix := prefixes{dotted: true}
	for i, row := range drawing.rows {
		ref := t.Graph.Ref(row.ID)
		reading := t.Readings[row.ID]
		name := paint(p.dim, prefix.next(row)) + paint(p.kind, Escape(names.kind(ref))) + "/" + Escape(ref.Name)
		if !wide { // which has it in a column
			name += paint(p.dim, linkMark(row))
		}
		name += paint(p.dim, drawing.mark(row))
		if row.Cut > 0 {
			name += paint(p.dim, fmt.Sprintf(" (+%d)", row.Cut))
		}
		state, stateColor := t.state(row.ID, reading, p)
		cells := []string{
			orDash(Escape(ref.Namespace)), name, state, orDash(Escape(reading.Ready)),
			orDash(t.finalizers(row.ID, wide)), t.age(row.ID),
		}
		if wide {
			cells = append(cells, orDash(edge(row)), orDash(t.owners(row.ID, names)), orDash(Escape(ref.UID)))
		}
		if t.Labels != nil {
			cells = append(cells, t.labelsOf(row.ID))
		}
		rows, colors = append(rows, cells), append(colors, stateColor)
		if more := drawing.more(i, &prefix, p); more != "" {
			rows, colors = append(rows, slices.Insert(make([]string, len(header)-1), 1, more)), append(colors, nil)
		}
	}
	s.fit(header, rows, 4)
	s.fit(header, rows, 2)
	for i, row := range rows {
		row[2] = paint(colors[i], row[2])
	}
	if err := s.writeTable(w, header, rows); err != nil {
		return err
	}
	return drawing.footer(w, t.Graph)
}

// prefixes draws the lines in front of a name. It remembers, for each indent, whether the row there was the last.
type prefixes struct {
	last []bool
	// dotted draws the branch to what no ownerReference leads to as a dotted line.
	dotted bool
}

func (p *prefixes) next(row graph.Row) string {
	p.last = append(p.last[:row.Indent], row.Last)
	if row.Indent == 0 {
		return ""
	}
	var b strings.Builder
	for _, last := range p.last[1:row.Indent] {
		if last {
			b.WriteString("  ")
		} else {
			b.WriteString("│ ")
		}
	}
	if row.Last {
		b.WriteString("└")
	} else {
		b.WriteString("├")
	}
	if p.dotted && row.Link != "" {
		b.WriteString("┄")
	} else {
		b.WriteString("─")
	}
	return b.String()
}

// linkMark names the link of a pack that leads to a row. That of a rule of Kubernetes needs no name: the row above it is a CRD or a namespace.
func linkMark(row graph.Row) string {
	if row.Link == "" || slices.ContainsFunc(link.Rules(), func(r link.Rule) bool { return r.Name == row.Link }) {
		return ""
	}
	return " (link:" + linkName(row) + ")"
}

// linkName names a link, and says of one that its owner alone says so.
func linkName(row graph.Row) string {
	if row.Unconfirmed {
		return Escape(row.Link) + ",unconfirmed"
	}
	return Escape(row.Link)
}

// state is the verdict on the object's existence or, for one that is simply there, what kubectl get says as its STATUS; and what is wrong with it, unless the
// STATUS says so. It comes with the color in which it is printed.
func (t Tree) state(id graph.ID, r graph.PrinterColumns, p Palette) (string, *color.Color) {
	failing := failingCondition(r.Failing)
	switch t.Graph.State(id) {
	case graph.Deleting:
		state := "Deleting(" + t.since(t.Graph.DeletionTimestamp(id)) + ")"
		if failing != "" {
			state += ", " + failing
		}
		return state, p.warn
	case graph.Absent:
		return "Absent", p.bad
	case graph.Unknown:
		return "Unknown", p.bad
	}
	switch {
	case r.Status != "":
		return Escape(r.Status), nil
	case failing != "":
		return failing, p.warn
	}
	return "Active", nil
}

// failingCondition is a condition in a few words: "Synced: ReconcileError". Its message is too long for a table.
func failingCondition(c *graph.Condition) string {
	switch {
	case c == nil:
		return ""
	case c.Reason == "":
		return Escape(c.Type + "=" + c.Status)
	}
	return Escape(c.Type + ": " + c.Reason)
}

func (t Tree) since(seconds int64) string {
	// A deletionTimestamp lies in the future while a grace period runs.
	return duration.HumanDuration(max(0, t.Now.Sub(time.Unix(seconds, 0))))
}

func (t Tree) age(id graph.ID) string {
	if created := t.Graph.CreationTimestamp(id); created != 0 {
		return t.since(created)
	}
	return "-"
}

// maxFinalizers is how many characters of finalizers fit into a table of 100 columns.
const maxFinalizers = 36

func (t Tree) finalizers(id graph.ID, wide bool) string {
	list := t.Graph.Finalizers(id)
	all := Escape(strings.Join(list, ","))
	if wide || len(all) <= maxFinalizers {
		return all
	}
	first := []rune(Escape(list[0]))
	if len(first) > maxFinalizers {
		first = append(first[:maxFinalizers-1], '…')
	}
	if len(list) == 1 {
		return string(first)
	}
	return fmt.Sprintf("%s,+%d", string(first), len(list)-1)
}

// edge names the flags of the reference that leads to the row and what is wrong with it.
func edge(row graph.Row) string {
	if row.Distance == 0 {
		return ""
	}
	if row.Link != "" {
		return "link:" + linkName(row)
	}
	var flags []string
	if row.Via.Controller {
		flags = append(flags, "controller")
	}
	if row.Via.Block {
		flags = append(flags, "blockOwnerDeletion")
	}
	return strings.Join(append(flags, row.Via.Problem.Names()...), ",")
}

func (t Tree) owners(id graph.ID, names namer) string {
	var owners []string
	for e := range t.Graph.Owners(id) {
		owners = append(owners, Escape(names.kind(t.Graph.Ref(e.Owner)))+"/"+Escape(e.Name))
	}
	return strings.Join(owners, ",")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
