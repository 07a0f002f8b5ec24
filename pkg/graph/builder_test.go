package graph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// permutations calls f with every order of the listings.
func permutations(listings []listing, f func([]listing)) {
	var permute func(n int)
	permute = func(n int) {
		if n <= 1 {
			f(listings)
			return
		}
		for i := range n {
			permute(n - 1)
			if n%2 == 0 {
				listings[i], listings[n-1] = listings[n-1], listings[i]
			} else {
				listings[0], listings[n-1] = listings[n-1], listings[0]
			}
		}
	}
	permute(len(listings))
}

// TestMirror: one object under two group-resources is one node (GC-020, GC-032), whichever was
// listed first, and is right under both names. It is what the lesser type says of it.
func TestMirror(t *testing.T) {
	widget := object("a", "widget", ref(deployments, "owner"))
	mirrored := widget
	mirrored.ResourceVersion, mirrored.Finalizers = "other", []string{"example.com/other"}
	listings := []listing{
		list(mirrors, mirrored), list(widgets, widget), list(deployments, object("a", "owner")),
		list(pods, object("a", "one", ref(widgets, "widget")), object("a", "two", ref(mirrors, "widget"))),
	}
	want := ""
	permutations(listings, func(order []listing) {
		g := build(order...)
		got := dump(g)
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("the order decides:\n%s", firstDifference(want, got))
		}
		if g.Len() != 4 || g.Edges() != 3 {
			t.Fatalf("%d nodes and %d edges, want 4 and 3", g.Len(), g.Edges())
		}
		id := node(t, g, "widget")
		if typ, _ := g.Type(id); typ != widgets {
			t.Errorf("it is a %v, want the lesser type", typ)
		}
		for _, typ := range []graph.Type{widgets, mirrors} {
			if found, ok := g.Find(typ.Group, typ.Resource, "a", "widget"); !ok || found != id {
				t.Errorf("not found as %s.%s", typ.Resource, typ.Group)
			}
		}
		for e := range g.Dependents(id) {
			if e.Problem != 0 {
				t.Errorf("a reference as %s has problems %v", e.APIVersion, e.Problem.Names())
			}
		}
	})
}

// TestMirrorDiscarded: of an object's several listings, only those that stand count, whatever the
// order.
func TestMirrorDiscarded(t *testing.T) {
	widget := object("a", "widget")
	third := graph.Type{Group: "third.example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true}
	listings := []listing{
		{Type: widgets, objects: []graph.Object{widget}, outcome: discarded},
		list(third, widget), list(mirrors, widget),
		list(pods, object("a", "pod", ref(widgets, "widget"))),
	}
	permutations(listings, func(order []listing) {
		g := build(order...)
		id := node(t, g, "widget")
		if typ, _ := g.Type(id); typ != mirrors {
			t.Fatalf("it is a %v, want the lesser of those that stand", typ)
		}
		for e := range g.Dependents(id) {
			if e.Problem != graph.WrongKind {
				t.Fatalf("a reference by the discarded kind has problems %v", e.Problem.Names())
			}
		}
	})
}

// TestRestart is a list that expires (410) and begins again: what the first attempt had and the
// second has not is not there, its references are not, and nothing is there twice.
func TestRestart(t *testing.T) {
	g := build(
		listing{Type: pods, outcome: discarded, objects: []graph.Object{
			object("a", "stays", ref(replicaSets, "before")),
			object("a", "goes", ref(replicaSets, "old"), ref(configMaps, "leftover")),
		}},
		list(pods, object("a", "stays", ref(replicaSets, "after")), object("a", "comes", ref(pods, "goes"))),
	)
	for _, name := range []string{"before", "old", "leftover"} {
		if _, ok := g.Lookup("uid-" + name); ok {
			t.Errorf("%s is in the graph, and nothing refers to it", name)
		}
	}
	if g.Len() != 4 || g.Edges() != 2 {
		t.Errorf("%d nodes and %d edges, want 4 and 2", g.Len(), g.Edges())
	}
	if got := g.State(node(t, g, "goes")); got != graph.Absent {
		t.Errorf("what only the discarded list had has state %d, want absent", got)
	}
	if got := g.OwnerCount(node(t, g, "goes")); got != 0 {
		t.Errorf("it still has %d owners", got)
	}
}

// TestAddedAgain: an object can come twice, on two pages or changed meanwhile; the last counts.
func TestAddedAgain(t *testing.T) {
	before := object("a", "pod", ref(replicaSets, "one"), ref(replicaSets, "two"))
	before.Finalizers, before.ResourceVersion, before.Annotations = []string{"f"}, "1", map[string]string{"a": "1"}
	after := object("a", "pod", ref(replicaSets, "three"))
	after.DeletionTimestamp, after.ResourceVersion, after.Selected = 1700000000, "2", true
	g := build(list(pods, before, object("a", "other"), after), list(replicaSets, object("a", "two")))
	pod := node(t, g, "pod")
	if g.Len() != 4 || g.OwnerCount(pod) != 1 || g.Edges() != 1 {
		t.Errorf("%d nodes, %d owners, %d edges; want 4, 1, 1", g.Len(), g.OwnerCount(pod), g.Edges())
	}
	if g.State(pod) != graph.Deleting || g.DeletionTimestamp(pod) != 1700000000 || len(g.Finalizers(pod)) != 0 ||
		g.ResourceVersion(pod) != "2" || !g.Selected(pod) || g.Annotations(pod) != nil {
		t.Errorf("what counts is not what was added last: %s", dump(g))
	}
	if got := g.DependentCount(node(t, g, "two")); got != 0 {
		t.Errorf("a reference that is no more still counts as %d dependents", got)
	}
}

// TestWithoutUID: the odd server gives its objects none. They are nodes all the same, each its own,
// and nothing can own by them.
func TestWithoutUID(t *testing.T) {
	bare := func(namespace, name string) graph.Object {
		return graph.Object{Namespace: namespace, Name: name, Owners: []graph.OwnerReference{ref(replicaSets, "rs")}}
	}
	g := build(
		list(pods, bare("a", "x"), bare("a", "y"), bare("b", "x")), list(configMaps, bare("a", "x")),
		list(replicaSets, object("a", "rs")),
		list(secrets, object("a", "nameless", graph.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "x"})),
	)
	if g.Len() != 7 { // four without, the ReplicaSet, the Secret, and the owner that it does not name
		t.Fatalf("%d nodes, want 7:\n%s", g.Len(), dump(g))
	}
	for _, want := range []graph.Ref{
		{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespace: "a", Name: "x"},
		{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespace: "a", Name: "y"},
		{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespace: "b", Name: "x"},
		{APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: "a", Name: "x"},
	} {
		id, ok := g.Find("", want.Resource, want.Namespace, want.Name)
		if !ok || g.Ref(id) != want {
			t.Errorf("found %+v, %v; want %+v", g.Ref(id), ok, want)
		}
		if g.DependentCount(id) != 0 {
			t.Errorf("%s owns something by a uid that it has not", want.Name)
		}
	}
	if got := g.DependentCount(node(t, g, "rs")); got != 4 {
		t.Errorf("the ReplicaSet has %d dependents, want 4", got)
	}
}

// TestAddKeepsNoSlice: a decoder uses its slices again for the next object.
func TestAddKeepsNoSlice(t *testing.T) {
	o := object("a", "one", ref(replicaSets, "rs"))
	o.Finalizers = []string{"example.com/first", "foregroundDeletion"}
	b := newBuilder()
	l := b.Listing(pods, "")
	l.Add(o)
	o.Finalizers[0], o.Owners[0] = "overwritten", graph.OwnerReference{}
	l.Add(object("a", "two"))
	l.Complete()
	g := b.Build()
	one := node(t, g, "one")
	if got := strings.Join(g.Finalizers(one), " "); got != "example.com/first foregroundDeletion" {
		t.Errorf("finalizers are %q", got)
	}
	if owner := slices.Collect(g.Owners(one))[0]; owner.Name != "rs" {
		t.Errorf("the owner is %+v", owner)
	}
}

// TestServedAndEmpty: nothing added is an empty graph of the types that are served.
func TestServedAndEmpty(t *testing.T) {
	g := build()
	if g.Len() != 0 || g.Edges() != 0 || len(g.Roots()) != 0 || len(g.Cycles()) != 0 ||
		len(g.Tree(nil, graph.TreeOptions{Depth: -1})) != 0 {
		t.Errorf("not empty: %s", dump(g))
	}
	types := g.Types()
	if len(types) != len(served) {
		t.Errorf("%d types, want %d", len(types), len(served))
	}
	sorted := slices.IsSortedFunc(types, func(a, b graph.Type) int {
		return slices.Compare([]string{a.Group, a.Kind, a.Resource}, []string{b.Group, b.Kind, b.Resource})
	})
	if !sorted {
		t.Errorf("types are not sorted: %v", types)
	}
}

// TestMoreOwnersThanSixteenBitsCount: every owner counts, however many references fit into an
// object.
func TestMoreOwnersThanSixteenBitsCount(t *testing.T) {
	const n = 1 << 16
	owners := make([]graph.OwnerReference, n)
	for i := range owners {
		owners[i] = ref(deployments, "owner")
	}
	g := build(list(pods, object("a", "pod", owners...)))
	if got := g.OwnerCount(node(t, g, "pod")); got != n {
		t.Errorf("%d owners, want %d", got, n)
	}
	if roots := names(g, g.Roots()); roots != "owner" {
		t.Errorf("roots %s: an object with owners is none", roots)
	}
}
