package graph

import (
	"iter"
	"slices"
)

type visit uint8

const (
	unvisited visit = iota
	open            // on the path from the root
	cut             // shown where Depth ends, and to be expanded should it come nearer to a root
	done
)

type walker struct {
	g       *Graph
	opts    TreeOptions
	visited []visit
	root    map[ID]bool
	hidden  map[ID]passes
	yield   func(Row) bool
	ended   bool // yield wants no more
	rows    int  // how many there were
	stack   []step
	skipped int // rows and hidden nodes that were left out, since they add nothing where they come again
}

// passes says how often what is below a hidden node was shown in its place.
type passes struct {
	under  int // the shown row under which that was last
	times  int
	near   int  // its least distance from a root
	barren bool // nothing that is shown is below it
}

// maxPasses is how often that is: a node with very many owners and as many dependents would have
// the square of them as rows.
const maxPasses = 4

// step is a row to come or, if leaves is set, the end of what is below a node.
type step struct {
	id               ID
	via              Via
	linkOwner        ID
	link             string
	indent, distance int32
	above            int32 // the shown row above it, -1 for none
	// rows and skipped are how many there were before a hidden node that is left.
	rows, skipped       int32
	leaves, unconfirmed bool
}

func (s *step) row() Row {
	return Row{ID: s.id, Via: s.via, Link: s.link, LinkOwner: s.linkOwner, Unconfirmed: s.unconfirmed,
		Indent: int(s.indent), Distance: int(s.distance)}
}

// topFirst puts the roots that are below another one behind those that are not, and otherwise keeps
// their order.
func (w *walker) topFirst(roots []ID) []ID {
	if len(roots) < 2 {
		return roots
	}
	top := heads(roots, func(id ID, visit func(ID)) {
		w.next(id, func(e Edge, l Link) { visit(w.far(e, l)) })
	})
	isTop := SetOf(top)
	for _, root := range roots {
		if !isTop[root] {
			top = append(top, root)
		}
	}
	return top
}

// far is the node that an edge leads to, in the direction of the walk.
func (w *walker) far(e Edge, l Link) ID {
	switch {
	case l.Rule != "" && w.opts.Owners:
		return l.Owner
	case l.Rule != "":
		return l.Dependent
	case w.opts.Owners:
		return e.Owner
	}
	return e.Dependent
}

// walk yields the rows of a root and of what is below it. It keeps a stack of its own, as
// findCycles does.
func (w *walker) walk(root ID) {
	w.stack = append(w.stack[:0], step{id: root, above: -1})
	for len(w.stack) > 0 && !w.ended {
		s := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		switch {
		case s.leaves && w.shows(s.id):
			w.visited[s.id] = done
		case s.leaves:
			p := w.hidden[s.id]
			p.barren = p.barren || p.times == 1 && w.rows == int(s.rows) && w.skipped == int(s.skipped)
			w.hidden[s.id] = p
		case w.shows(s.id):
			w.show(s.row())
		default:
			w.pass(s)
		}
	}
}

func (w *walker) shows(id ID) bool {
	return w.opts.Show == nil || w.root[id] && !w.opts.HideRoots || w.opts.Show(id)
}

// show yields the row and, if the node was not expanded yet, puts what is below it on the stack.
func (w *walker) show(row Row) {
	switch v := w.visited[row.ID]; {
	case v == open:
		row.Repeat = Cycle
	case v == done, v == cut && w.ends(row):
		row.Repeat = Elsewhere
	}
	row.Root = w.root[row.ID]
	if row.Repeat != First && row.Indent == 0 { // it stands above, and here under nothing
		w.skipped++
		return
	}
	at := w.rows
	switch {
	case row.Repeat != First:
		w.add(row)
	case w.ends(row):
		w.visited[row.ID] = done
		w.next(row.ID, func(Edge, Link) {
			w.visited[row.ID] = cut
			row.Cut++
		})
		w.add(row)
	default:
		w.add(row)
		w.visited[row.ID] = open
		w.stack = append(w.stack, step{id: row.ID, leaves: true})
		w.push(row, row.Indent+1, at)
	}
}

func (w *walker) add(row Row) {
	w.rows++
	w.ended = !w.yield(row)
}

// pass puts what is below a hidden node on the stack, once under each shown row: whatever else owns
// it, its dependents are below this one too. When that was often enough, a row for the node takes
// their place.
func (w *walker) pass(s step) {
	p, row, above := w.hidden[s.id], s.row(), int(s.above)
	switch {
	case p.barren:
		return
	case p.times > 0 && p.under == above, w.ends(row):
		w.skipped++
		return
	case p.times >= maxPasses && (w.opts.Depth < 0 || row.Distance >= p.near): // or Depth would leave out less here
		w.skipped++
		p.under = above
		if above >= 0 {
			row.Hidden, row.Repeat = true, Elsewhere
			w.add(row)
		}
	default:
		if p.times == 0 || row.Distance < p.near {
			p.near = row.Distance
		}
		p.times, p.under = p.times+1, above
		s.leaves, s.rows, s.skipped = true, int32(w.rows), int32(w.skipped)
		w.stack = append(w.stack, s)
		w.push(row, row.Indent, above)
	}
	w.hidden[s.id] = p
}

func (w *walker) ends(row Row) bool { return w.opts.Depth >= 0 && row.Distance >= w.opts.Depth }

// push puts what is below a node on the stack, the first on top.
func (w *walker) push(row Row, indent, above int) {
	next := step{id: row.ID, indent: int32(indent), distance: int32(row.Distance + 1), above: int32(above)}
	below := len(w.stack)
	w.next(row.ID, func(e Edge, l Link) { w.stack = append(w.stack, next.to(w.far(e, l), e, l)) })
	if w.opts.Compare != nil {
		slices.SortStableFunc(w.stack[below:], func(a, b step) int { return w.opts.Compare(a.id, b.id) })
	}
	slices.Reverse(w.stack[below:])
}

// to is the step that an edge leads to.
func (s step) to(id ID, e Edge, l Link) step {
	s.id, s.via, s.link, s.linkOwner = id, Via{e.Owner, e.Dependent, e.Controller, e.Block, e.Problem}, l.Rule, l.Owner
	s.unconfirmed = l.Unconfirmed
	return s
}

// next calls f once for each node that is one edge further.
func (w *walker) next(id ID, f func(Edge, Link)) {
	if w.opts.Owners {
		seen := map[ID]bool{}
		for e := range w.g.Owners(id) {
			if !seen[e.Owner] {
				seen[e.Owner] = true
				f(e, Link{})
			}
		}
		w.links(id, func(l Link) bool { return seen[l.Owner] }, f)
		return
	}
	last := ID(-1)
	for e := range w.g.Dependents(id) { // an object's references stand together
		if e.Dependent != last {
			f(e, Link{})
		}
		last = e.Dependent
	}
	w.links(id, func(l Link) bool { return w.g.Owns(id, l.Dependent) }, f)
}

// links calls f for the links of a node that are not references too, which say more.
func (w *walker) links(id ID, isReference func(Link) bool, f func(Edge, Link)) {
	if w.opts.Links == nil {
		return
	}
	for _, l := range w.opts.Links(id) {
		if !isReference(l) {
			f(Edge{}, l)
		}
	}
}

// Owns returns whether a dependent has a reference to the owner.
func (g *Graph) Owns(owner, dependent ID) bool {
	for e := range g.Owners(dependent) {
		if e.Owner == owner {
			return true
		}
	}
	return false
}

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
		w := &walker{g: g, opts: opts, visited: make([]visit, g.nodes.len()), root: SetOf(roots),
			hidden: map[ID]passes{}, yield: yield}
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
