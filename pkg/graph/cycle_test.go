package graph_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestCycles: GC-064 and GC-065. Each line of want is a cycle, in the order of Cycles.
func TestCycles(t *testing.T) {
	own := func(name string, owners ...string) graph.Object {
		var refs []graph.OwnerReference
		for _, o := range owners {
			refs = append(refs, ref(configMaps, o))
		}
		return object("a", name, refs...)
	}
	tests := []struct {
		name    string
		objects []graph.Object
		want    []string
		roots   string
	}{
		{"none", []graph.Object{own("a"), own("b", "a")}, nil, "a"},
		{"self", []graph.Object{own("a", "a")}, []string{"a"}, "a"},
		{"self, named twice", []graph.Object{own("a", "a", "a")}, []string{"a"}, "a"},
		{"two", []graph.Object{own("b", "a"), own("a", "b")}, []string{"a b"}, "a"},
		{"three", []graph.Object{own("a", "c"), own("b", "a"), own("c", "b")}, []string{"a b c"}, "a"},
		{"two cycles apart", []graph.Object{own("a", "d"), own("b", "c"), own("c", "b"), own("d", "a")},
			[]string{"a d", "b c"}, "a b"},
		{"two cycles with a member in common are one", []graph.Object{own("a", "b"), own("b", "a", "c"), own("c", "b")},
			[]string{"a b c"}, "a"},
		{"a cycle that owns a cycle", []graph.Object{own("a", "b", "c"), own("b", "a"), own("c", "d"), own("d", "c")},
			[]string{"a b", "c d"}, "c"},
		{"owned from outside", []graph.Object{own("a", "b", "z"), own("b", "a"), own("z")}, []string{"a b"}, "z"},
		{"owned by what is not there", []graph.Object{own("a", "a", "gone")}, []string{"a"}, "gone"},
		{"self within a longer one", []graph.Object{own("a", "a", "b"), own("b", "a")}, []string{"a b"}, "a"},
		{"a diamond is none", []graph.Object{own("a"), own("b", "a"), own("c", "a"), own("d", "b", "c")}, nil, "a"},
		{"with a tail", []graph.Object{own("a", "b"), own("b", "a"), own("c", "b"), own("d", "c")}, []string{"a b"}, "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := build(list(configMaps, tt.objects...))
			var got []string
			for i, c := range g.Cycles() {
				got = append(got, names(g, c))
				for _, id := range c {
					if n, in := g.Cycle(id); !in || n != i {
						t.Errorf("%s is in cycle %d, %v; want %d", g.Ref(id).Name, n, in, i)
					}
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("cycles %q, want %q", got, tt.want)
			}
			if got := names(g, g.Roots()); got != tt.roots {
				t.Errorf("roots %q, want %q", got, tt.roots)
			}
		})
	}
}

// TestDeepChain: an owner chain can be as long as somebody cares to make it, and its end can own
// its beginning.
func TestDeepChain(t *testing.T) {
	const length = 50_000
	objects := make([]graph.Object, length)
	for i := range objects {
		objects[i] = object("a", fmt.Sprint(i), ref(configMaps, fmt.Sprint((i+length-1)%length)))
	}
	g := build(list(configMaps, objects...))
	if cycles := g.Cycles(); len(cycles) != 1 || len(cycles[0]) != length {
		t.Errorf("%d cycles, want one of all objects", len(cycles))
	}
	rows := g.Tree(g.Roots(), graph.TreeOptions{Depth: -1})
	if len(rows) != length+1 {
		t.Errorf("%d rows, want %d", len(rows), length+1)
	}
	if last := rows[len(rows)-1]; last.Repeat != graph.Cycle || last.Distance != length {
		t.Errorf("the last row is %+v", last)
	}
	if related := g.Related(func(id graph.ID) bool { return id == 17 }); slices.Contains(related, false) {
		t.Error("not all members of a cycle are related")
	}
}
