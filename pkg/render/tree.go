package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fatih/color"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Tree is what there is to show of a tree.
type Tree struct {
	Graph *graph.Graph
	Rows  []graph.Row
	// Readings are by node; a node without one is shown without.
	Readings map[graph.ID]graph.PrinterColumns
	// Labels are by node, and nil if they are not shown. Those of a node that has none here could
	// not be read.
	Labels map[graph.ID]map[string]string
	// Sums are what goes with each node, and nil if they are not shown. With Gaps more can go.
	Sums map[graph.ID]*v1alpha1.Sum
	Gaps bool
	// Now is what ages are measured against.
	Now time.Time
}

// treeLine is a row of the tree that is drawn, or what takes the place of rows that are not.
type treeLine struct {
	graph.Row
	graph.Ref
	graph.PrinterColumns
	drawn             drawn
	state, finalizers string
	color             *color.Color
	// more says that drawn is all of the row.
	more bool
}

// TreeTable writes the tree as a table, down to a level, and how many objects lie deeper. A wide
// one adds how each object is owned and its uid.
func TreeTable(w io.Writer, t Tree, s Style) error {
	names := newNamer(t)
	drawing := s.draw(t.Rows)
	if err := writeRows(w, s, t.columns(names, s), t.lines(drawing, names, s)); err != nil {
		return err
	}
	return drawing.footer(w, t.Graph, s)
}

func (t Tree) columns(names namer, s Style) []column[treeLine] {
	columns := []column[treeLine]{
		{header: "NAMESPACE", cell: func(l treeLine) string { return Escape(l.Namespace) }, shorten: 2},
		nameColumn(s, func(l treeLine) drawn { return l.drawn }),
	}
	return besideDrawing(func(l treeLine) bool { return l.more }, append(append(columns, t.sums()...), []column[treeLine]{
		{header: "STATE", cell: func(l treeLine) string { return l.state }, shorten: 2,
			color: func(l treeLine) *color.Color { return l.color }},
		{header: "READY", cell: func(l treeLine) string { return Escape(l.Ready) }, drop: 2},
		{header: "FINALIZERS", cell: func(l treeLine) string { return l.finalizers }, shorten: 1, drop: 3},
		{header: "AGE", cell: func(l treeLine) string { return t.age(l.ID) }, drop: 1},
		{header: "EDGE", cell: func(l treeLine) string { return edge(l.Row) }, wide: true},
		{header: "OWNERS", cell: func(l treeLine) string { return t.owners(l.ID, names) }, wide: true},
		{header: "UID", cell: func(l treeLine) string { return Escape(l.UID) }, wide: true},
		{header: "LABELS", cell: func(l treeLine) string { return t.labelsOf(l.ID) }, shorten: 1, unused: t.Labels == nil},
	}...))
}

// sums are the columns of what goes with each object.
func (t Tree) sums() []column[treeLine] {
	if t.Sums == nil {
		return nil
	}
	of := func(header string, value func(*v1alpha1.Sum) string) column[treeLine] {
		return column[treeLine]{header: header, cell: func(l treeLine) string {
			if sum := t.Sums[l.ID]; sum != nil {
				return value(sum)
			}
			return ""
		}}
	}
	columns := []column[treeLine]{of("OBJECTS", func(sum *v1alpha1.Sum) string {
		return atLeast(strconv.Itoa(sum.Objects), t.Gaps)
	})}
	for _, resource := range append([]string{"cpu", "memory", "storage"}, t.extended()...) {
		columns = append(columns, of(strings.ToUpper(resource), func(sum *v1alpha1.Sum) string {
			return atLeast(sum.Requests[resource], t.Gaps || sum.Unread > 0)
		}))
	}
	return columns
}

// extended are the extended resources that something in the tree requests, as nvidia.com/gpu,
// sorted: only their names have a domain (pkg/apis/core/v1/helper, IsExtendedResourceName).
func (t Tree) extended() []string {
	names := map[string]bool{}
	for _, sum := range t.Sums {
		for name := range sum.Requests {
			if strings.Contains(name, "/") {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// atLeast marks a sum that may be larger, as not everything could be read.
func atLeast(sum string, larger bool) string {
	switch {
	case !larger:
		return sum
	case sum == "":
		return "?"
	}
	return ">=" + sum
}

func (t Tree) lines(drawing drawing, names namer, s Style) []treeLine {
	lines := make([]treeLine, 0, len(drawing.rows))
	prefix := prefixes{dotted: true}
	for i, row := range drawing.rows {
		l := treeLine{Row: row, Ref: t.Graph.Ref(row.ID), PrinterColumns: t.Readings[row.ID]}
		l.drawn = drawn{prefix: prefix.next(row), ref: Escape(names.kind(l.Ref)) + "/" + Escape(l.Name)}
		if !s.Wide { // which has it in a column
			l.drawn.marks += linkMark(row)
		}
		l.drawn.marks += drawing.mark(row)
		if row.Cut > 0 {
			l.drawn.marks += fmt.Sprintf(" (+%d)", row.Cut)
		}
		l.state, l.color = t.state(row.ID, l.PrinterColumns, s.Palette)
		l.state = cut(l.state, maxState)
		l.finalizers = t.finalizers(row.ID, s.Wide)
		lines = append(lines, l)
		if more := drawing.more(i, &prefix); more != (drawn{}) {
			lines = append(lines, treeLine{drawn: more, more: true})
		}
	}
	return lines
}

// prefixes draws the lines in front of a name. It remembers, for each indent, whether the row there
// was the last.
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

// linkMark names the link of a pack that leads to a row. That of a rule of Kubernetes needs no
// name: the row above it is a CRD or a namespace.
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

// state is the verdict on the object's existence or, for one that is simply there, what kubectl get
// says as its STATUS; and what is wrong with it, unless the STATUS says so. It comes with the color
// in which it is printed.
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

// failingCondition is a condition in a few words: "Synced: ReconcileError". Its message is too long
// for a table.
func failingCondition(c *v1alpha1.Condition) string {
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

// maxState is how many columns the state of an object takes.
const maxState = 40

// cut shortens a text without colors to so many columns.
func cut(text string, most int) string {
	if width(text) <= most {
		return text
	}
	taken := 0
	for i, r := range text {
		if taken += width(string(r)); taken >= most {
			return text[:i] + "…"
		}
	}
	return text
}

// maxFinalizers is how many columns of finalizers fit into a table of 100 columns.
const maxFinalizers = 36

func (t Tree) finalizers(id graph.ID, wide bool) string {
	list := t.Graph.Finalizers(id)
	all := Escape(strings.Join(list, ","))
	if wide || len(all) <= maxFinalizers {
		return all
	}
	first := middle(Escape(list[0]), maxFinalizers)
	if len(list) == 1 {
		return first
	}
	return fmt.Sprintf("%s,+%d", first, len(list)-1)
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

// labelsOf writes the labels of an object as kubectl get --show-labels does. Where they could not
// be read they are unknown, which is not none.
func (t Tree) labelsOf(id graph.ID) string {
	labels, known := t.Labels[id]
	switch {
	case !known && t.Graph.State(id) == graph.Absent:
		return "-"
	case !known:
		return "<unknown>"
	case len(labels) == 0:
		return "<none>"
	}
	pairs := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return Escape(strings.Join(pairs, ","))
}
