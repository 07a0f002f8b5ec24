package graph_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// checkGraph holds a graph against what is true of every graph.
func checkGraph(t *testing.T, g *graph.Graph) {
	t.Helper()
	checkNodes(t, g)
	checkPlaces(t, g)
	checkEdges(t, g)
	checkCycles(t, g)
	checkForest(t, g, g.Tree(g.Roots(), graph.TreeOptions{Depth: -1}))
	if t.Failed() {
		t.Logf("the graph:\n%s", dump(g))
	}
}

// checkNodes: the order is the promised one, uids are unique, and a virtual node is referenced and
// has nothing else.
func checkNodes(t *testing.T, g *graph.Graph) {
	t.Helper()
	for i := range g.Len() {
		id := graph.ID(i)
		r := g.Ref(id)
		if r.UID != "" {
			if found, ok := g.Lookup(r.UID); !ok || found != id {
				t.Errorf("node %d has uid %q, which looks up %d, %v", id, r.UID, found, ok)
			}
		}
		if virtual := g.State(id) == graph.Absent || g.State(id) == graph.Unknown; virtual == g.Observed(id) {
			t.Errorf("node %d has state %d, seen %v", id, g.State(id), g.Observed(id))
		}
		if !g.Observed(id) && (g.OwnerCount(id) != 0 || g.DependentCount(id) == 0 || len(g.Finalizers(id)) != 0 ||
			g.CreationTimestamp(id) != 0) {
			t.Errorf("node %d is virtual and has more than references to it", id)
		}
		if g.Observed(id) {
			if found, ok := g.Find(r.Group(), r.Resource, r.Namespace, r.Name); !ok || found != id &&
				g.CreationTimestamp(found) < g.CreationTimestamp(id) {
				t.Errorf("node %d is not found by its name, but %d, %v", id, found, ok)
			}
		}
		if i == 0 {
			continue
		}
		before := g.Ref(id - 1)
		order := cmp.Or(cmp.Compare(before.Namespace, r.Namespace), cmp.Compare(before.Group(), r.Group()),
			cmp.Compare(before.Kind, r.Kind), cmp.Compare(before.Name, r.Name), cmp.Compare(before.UID, r.UID))
		if order > 0 || order == 0 && r.UID != "" {
			t.Errorf("nodes %d and %d are not in order: %+v, %+v", id-1, id, before, r)
		}
	}
}

// checkPlaces: what is in a namespace, and of a type in it, is what a look at every node finds, in
// the same order.
func checkPlaces(t *testing.T, g *graph.Graph) {
	t.Helper()
	type place struct{ group, resource, namespace string }
	inNamespace, ofType := map[string][]graph.ID{"": nil, "elsewhere": nil}, map[place][]graph.ID{}
	for i := range g.Len() {
		id := graph.ID(i)
		r := g.Ref(id)
		p := place{r.Group(), r.Resource, r.Namespace}
		if !g.Observed(id) {
			continue
		}
		inNamespace[r.Namespace] = append(inNamespace[r.Namespace], id)
		ofType[p] = append(ofType[p], id)
	}
	for namespace, want := range inNamespace {
		if got := slices.Collect(g.InNamespace(namespace)); !slices.Equal(got, want) {
			t.Errorf("in namespace %q are %v, want %v", namespace, got, want)
		}
	}
	for p, want := range ofType {
		got := slices.Collect(g.OfType(p.group, p.resource, p.namespace))
		for _, id := range want {
			if !slices.Contains(got, id) {
				t.Errorf("of %+v are %v, want %v", p, got, want)
			}
		}
		for i, id := range got {
			// An object that is served as another type too is one of both.
			if found, ok := g.Find(p.group, p.resource, p.namespace, g.Name(id)); !ok || g.Name(found) != g.Name(id) ||
				slices.Contains(got[:i], id) {
				t.Errorf("of %+v is %d, which is not found by it, or comes twice", p, id)
			}
		}
	}
}

// checkEdges: owners and dependents are two views of the same edges.
func checkEdges(t *testing.T, g *graph.Graph) {
	t.Helper()
	var fromDependents, fromOwners []graph.Edge
	for i := range g.Len() {
		id := graph.ID(i)
		owners, dependents := slices.Collect(g.Owners(id)), slices.Collect(g.Dependents(id))
		if len(owners) != g.OwnerCount(id) || len(dependents) != g.DependentCount(id) {
			t.Errorf("node %d has %d owners and %d dependents, and says %d and %d", id, len(owners), len(dependents),
				g.OwnerCount(id), g.DependentCount(id))
		}
		for n, e := range owners {
			if want := len(fromDependents) + n; e.Index != want {
				t.Errorf("reference %d of node %d has index %d, want %d", n, id, e.Index, want)
			}
			if e.Dependent != id {
				t.Errorf("an owner of %d is one of %d", id, e.Dependent)
			}
			if (e.Problem&graph.SelfReference != 0) != (e.Owner == e.Dependent) {
				t.Errorf("self reference: %+v", e)
			}
		}
		for _, e := range dependents {
			if e.Owner != id {
				t.Errorf("a dependent of %d is one of %d", id, e.Owner)
			}
		}
		if !slices.IsSortedFunc(dependents, func(a, b graph.Edge) int { return cmp.Compare(a.Dependent, b.Dependent) }) {
			t.Errorf("the dependents of %d are not in order", id)
		}
		fromDependents, fromOwners = append(fromDependents, owners...), append(fromOwners, dependents...)
	}
	if len(fromDependents) != g.Edges() {
		t.Errorf("%d edges, and says %d", len(fromDependents), g.Edges())
	}
	slices.SortStableFunc(fromOwners, func(a, b graph.Edge) int { return cmp.Compare(a.Dependent, b.Dependent) })
	byOwner := func(a, b graph.Edge) int {
		return cmp.Or(cmp.Compare(a.Dependent, b.Dependent), cmp.Compare(a.Owner, b.Owner))
	}
	slices.SortStableFunc(fromDependents, byOwner)
	slices.SortStableFunc(fromOwners, byOwner)
	if !slices.Equal(fromDependents, fromOwners) {
		t.Error("owners and dependents are not inverse")
	}
}

// reachable returns what the node owns, directly or not, without itself unless it does so too.
func reachable(g *graph.Graph, from graph.ID) []bool {
	seen := make([]bool, g.Len())
	queue := []graph.ID{from}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for e := range g.Dependents(id) {
			if !seen[e.Dependent] {
				seen[e.Dependent] = true
				queue = append(queue, e.Dependent)
			}
		}
	}
	return seen
}

// checkCycles: two nodes are in one cycle if each reaches the other, and a node is in one if it
// reaches itself.
func checkCycles(t *testing.T, g *graph.Graph) {
	t.Helper()
	reaches := make([][]bool, g.Len())
	for i := range reaches {
		reaches[i] = reachable(g, graph.ID(i))
	}
	var want [][]graph.ID
	placed := make([]bool, g.Len())
	for i := range reaches {
		if !reaches[i][i] || placed[i] {
			continue
		}
		var cycle []graph.ID
		for j := range reaches {
			if reaches[i][j] && reaches[j][i] {
				placed[j] = true
				cycle = append(cycle, graph.ID(j))
			}
		}
		want = append(want, cycle)
	}
	if !slices.EqualFunc(g.Cycles(), want, slices.Equal) {
		t.Errorf("cycles %v, want %v", g.Cycles(), want)
	}
	for i := range placed {
		if _, in := g.Cycle(graph.ID(i)); in != placed[i] {
			t.Errorf("node %d in a cycle: %v, want %v", i, in, placed[i])
		}
	}
}

// checkForest holds the rows of Tree(Roots) without options against the graph: every node is
// expanded exactly once, with all of its dependents below it, and the marks say what is so.
func checkForest(t *testing.T, g *graph.Graph, rows []graph.Row) {
	t.Helper()
	expanded := make([]int, g.Len())
	below := make([][]graph.ID, g.Len())
	var path []graph.Row
	for i, r := range rows {
		if r.Indent > len(path) || r.Indent != r.Distance || r.Indent == 0 && !r.Root {
			t.Fatalf("row %d has indent %d and distance %d below %d rows", i, r.Indent, r.Distance, len(path))
		}
		path = path[:r.Indent]
		want := graph.First
		switch {
		case slices.ContainsFunc(path, func(p graph.Row) bool { return p.ID == r.ID }):
			want = graph.Cycle
		case expanded[r.ID] > 0:
			want = graph.Elsewhere
		}
		if r.Repeat != want {
			t.Errorf("row %d (node %d) has mark %d, want %d", i, r.ID, r.Repeat, want)
		}
		if r.Repeat == graph.First {
			expanded[r.ID]++
		}
		if r.Indent > 0 {
			parent := path[r.Indent-1]
			if parent.Repeat != graph.First || r.Via.Owner != parent.ID || r.Via.Dependent != r.ID {
				t.Errorf("row %d is below node %d (mark %d) by way of %+v", i, parent.ID, parent.Repeat, r.Via)
			}
			below[parent.ID] = append(below[parent.ID], r.ID)
		}
		if last := isLast(rows, i); r.Last != last {
			t.Errorf("row %d is last: %v, want %v", i, r.Last, last)
		}
		if r.Cut != 0 || r.Link != "" {
			t.Errorf("row %d is cut or linked: %+v", i, r)
		}
		path = append(path, r)
	}
	for i, n := range expanded {
		if n != 1 {
			t.Errorf("node %d is expanded %d times", i, n)
		}
		var want []graph.ID
		for e := range g.Dependents(graph.ID(i)) {
			want = append(want, e.Dependent)
		}
		if want = slices.Compact(want); !slices.Equal(below[i], want) {
			t.Errorf("below node %d are %v, want %v", i, below[i], want)
		}
	}
}

// isLast looks for a later row with the same parent.
func isLast(rows []graph.Row, i int) bool {
	for _, r := range rows[i+1:] {
		if r.Indent <= rows[i].Indent {
			return r.Indent < rows[i].Indent
		}
	}
	return true
}
