package graph

import (
	"iter"
	"slices"
)

// Link is an edge that no ownerReference records: deleting the owner takes the dependent along all
// the same.
type Link struct {
	Owner, Dependent ID
	// Rule names what makes it so, for example "crd".
	Rule string
	// Unconfirmed says that the owner alone says so, and the dependent, which is there, does not.
	Unconfirmed bool
}

// TreeOptions say what a tree follows and shows.
type TreeOptions struct {
	// Owners walks from dependents up to their owners instead of down.
	Owners bool
	// Depth bounds the distance from a root; below 0 there is no bound.
	Depth int
	// Show says which rows to show; nil shows all. A root is always shown, unless HideRoots is set.
	// The dependents of a hidden node are shown under the nearest shown node above it, and without
	// one as trees of their own: hiding never cuts an edge.
	Show func(ID) bool
	// HideRoots lets Show hide roots too.
	HideRoots bool
	// Compare orders the roots and what is below a node; nil leaves them as they were listed.
	Compare func(a, b ID) int
	// Links returns further dependents of a node, or further owners when walking up; nil for none.
	Links func(ID) []Link
}

// Repeat says why a row is not expanded.
type Repeat uint8

const (
	// First means that the node is expanded here.
	First Repeat = iota
	// Elsewhere means that the node has another owner and is expanded above, under that.
	Elsewhere
	// Cycle means that the node is its own ancestor here.
	Cycle
)

// Via is what a tree shows of the reference that leads to a row; Graph.Owners has all of it.
type Via struct {
	Owner, Dependent  ID
	Controller, Block bool
	Problem           Problem
}

// Row is one line of a tree.
type Row struct {
	ID ID
	// Via is the reference that leads here and Link the rule if it is none; both are zero for a
	// root. Of several references between the same two objects it is the first.
	Via       Via
	Link      string
	LinkOwner ID
	// Unconfirmed says that of the two sides of the Link only the owner says so.
	Unconfirmed bool
	// Indent is the number of shown rows above it, Distance the number of edges from its root.
	Indent, Distance int
	// Last is true for the last row under its parent.
	Last bool
	// Root says that the node is one of those that were asked for, even if it stands below another
	// of them.
	Root   bool
	Repeat Repeat
	// Hidden is true for a node that is not shown, where its row stands for the rows below it,
	// which all stand above already, under several others of its owners.
	Hidden bool
	// Cut counts the dependents (or owners) that Depth leaves out.
	Cut int
}

// Tree returns the rows of the trees of the given roots, depth first. A node is expanded once,
// where it comes first. A root that is below another one is shown there, if it is shown there at
// all, and not again by itself. There are at most a few times as many rows as there are edges.
func (g *Graph) Tree(roots []ID, opts TreeOptions) []Row {
	return Rows(g.Walk(roots, opts))
}

// Rows collects the rows of a Walk, which are those of a Tree then.
func Rows(walk iter.Seq[Row]) []Row {
	rows := slices.Collect(walk)
	markLast(rows)
	return rows
}

// Walk iterates over the rows of a Tree, without finding out which are the last under their
// parents, and keeps none.
func (g *Graph) Walk(roots []ID, opts TreeOptions) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		w := &walker{g: g, opts: opts, visited: make([]visit, g.nodes.len()), root: make(map[ID]bool, len(roots)),
			hidden: map[ID]passes{}, yield: yield}
		for _, root := range roots {
			w.root[root] = true
		}
		if opts.Compare != nil {
			roots = slices.SortedStableFunc(slices.Values(roots), opts.Compare)
		}
		for _, root := range w.topFirst(roots) {
			if v := w.visited[root]; v == unvisited || v == cut && opts.Depth > 0 {
				w.walk(root)
			}
			if w.ended {
				return
			}
		}
	}
}

// markLast finds, from the end, the last row under each parent.
func markLast(rows []Row) {
	var open []bool // by indent: a later sibling exists
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
		for len(open) <= r.Indent {
			open = append(open, false)
		}
		r.Last = !open[r.Indent]
		open[r.Indent] = true
		open = open[:r.Indent+1]
	}
}
