package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// owned returns a graph of config maps named 0 to n-1 and their numbers' IDs; owners maps a
// dependent to what owns it.
func owned(n int, owners map[int][]int) (*graph.Graph, []graph.ID) {
	b := graph.NewBuilder()
	t := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	b.Serve(t)
	l := b.Listing(t, "")
	name := func(i int) string { return fmt.Sprintf("n%03d", i) }
	for i := range n {
		o := graph.Object{Namespace: "ns", Name: name(i), UID: "uid-" + name(i)}
		for _, owner := range owners[i] {
			o.Owners = append(o.Owners, graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name(owner),
				UID: "uid-" + name(owner)})
		}
		l.Add(o)
	}
	l.Complete()
	g := b.Build()
	ids := make([]graph.ID, n)
	for i := range n {
		ids[i], _ = g.Lookup("uid-" + name(i))
	}
	return g, ids
}

func TestBatches(t *testing.T) {
	for name, test := range map[string]struct {
		n      int
		owners map[int][]int
		roots  []int
		want   [][]int
	}{
		"unrelated": {n: 3, roots: []int{0, 1, 2}, want: [][]int{{0, 1, 2}}},
		"chain": {n: 3, owners: map[int][]int{1: {0}, 2: {1}}, roots: []int{0, 1, 2},
			want: [][]int{{2}, {1}, {0}}},
		"chain with a gap": {n: 3, owners: map[int][]int{1: {0}, 2: {1}}, roots: []int{0, 2},
			want: [][]int{{2}, {0}}},
		"two chains": {n: 4, owners: map[int][]int{1: {0}, 3: {2}}, roots: []int{0, 1, 2, 3},
			want: [][]int{{1, 3}, {0, 2}}},
		"cycle": {n: 3, owners: map[int][]int{0: {1, 2}, 1: {0}, 2: {0}}, roots: []int{0, 1, 2},
			want: [][]int{{2}, {1}, {0}}},
		"above a cycle of no roots": {n: 5, owners: map[int][]int{0: {1, 3}, 1: {0, 4}, 2: {0}}, roots: []int{2, 3, 4},
			want: [][]int{{2}, {3, 4}}},
		"a root that was named twice": {n: 2, owners: map[int][]int{1: {0}}, roots: []int{1, 0, 1}, want: [][]int{{1}, {0}}},
	} {
		g, ids := owned(test.n, test.owners)
		var roots []graph.ID
		for _, r := range test.roots {
			roots = append(roots, ids[r])
		}
		var got [][]int
		for _, batch := range New(g, roots, Background, Options{}).Batches() {
			var numbers []int
			for _, a := range batch {
				numbers = append(numbers, slices.Index(ids, a.Object))
			}
			slices.Sort(numbers)
			got = append(got, numbers)
		}
		if fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestBatchesKeepRelatedRootsApart: in random graphs, cycles among them, no batch has two roots of
// which one owns the other, directly or not, and an owner that its dependent does not own in turn
// comes after it.
func TestBatchesKeepRelatedRootsApart(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 2 + rng.IntN(14)
		owners := map[int][]int{}
		for i := range n {
			for range rng.IntN(3) {
				owners[i] = append(owners[i], rng.IntN(n))
			}
		}
		g, ids := owned(n, owners)
		var roots []graph.ID
		for _, id := range ids {
			if rng.IntN(2) == 0 {
				roots = append(roots, id)
			}
		}
		at := map[graph.ID]int{}
		for i, batch := range New(g, roots, Background, Options{}).Batches() {
			for _, a := range batch {
				at[a.Object] = i
			}
		}
		if len(at) != len(roots) {
			t.Fatalf("seed %d: %d of %d roots are in a batch", seed, len(at), len(roots))
		}
		below := reachable(g)
		for a, i := range at {
			for b, j := range at {
				switch {
				case a == b || !below[a][b]:
				case i == j:
					t.Errorf("seed %d: %s owns %s and is in its batch", seed, g.Ref(a).Name, g.Ref(b).Name)
				case i < j && !below[b][a]:
					t.Errorf("seed %d: %s owns %s and comes before it", seed, g.Ref(a).Name, g.Ref(b).Name)
				}
			}
		}
	}
}

// reachable returns all that is below each object.
func reachable(g *graph.Graph) map[graph.ID]map[graph.ID]bool {
	below := map[graph.ID]map[graph.ID]bool{}
	for i := range g.Len() {
		id := graph.ID(i)
		below[id] = map[graph.ID]bool{}
		for todo := []graph.ID{id}; len(todo) > 0; {
			next := todo[0]
			todo = todo[1:]
			for e := range g.Dependents(next) {
				if !below[id][e.Dependent] {
					below[id][e.Dependent] = true
					todo = append(todo, e.Dependent)
				}
			}
		}
	}
	return below
}

// TestObjectThatTwoControllersDelete: the only instance of a CRD is all that is in a namespace, and
// both are deleted.
func TestObjectThatTwoControllersDelete(t *testing.T) {
	s := newShape()
	s.add(shapeNamespaces, "", "root-namespace", nil)
	s.add(shapeDefinitions, "", "widgets.example.com", nil)
	s.add(shapeWidgets, "root-namespace", "widget", nil)
	g := s.build()
	p := New(g, append(named(g, "root"), named(g, "widgets.")...), Background, Options{Links: link.New(g)})
	if len(p.Deleted) != 3 || len(p.Deadlocked) != 0 {
		t.Errorf("deleted %s, %d cannot be; want all three deleted", names(g, p.Deleted), len(p.Deadlocked))
	}
}
