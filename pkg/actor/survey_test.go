package actor

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestClassesAreCounted: no more classes than asked for, and the finalizers of objects in the others
// are counted.
func TestClassesAreCounted(t *testing.T) {
	t.Parallel()
	widgets := graph.Type{Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget"}
	b := graph.NewBuilder()
	listing := b.Listing(widgets, "")
	for _, name := range []string{"a", "b"} {
		listing.Add(graph.Object{UID: name, Name: name,
			Finalizers: []string{"example.com/one", "example.com/two", "example.com/" + name}})
	}
	listing.Complete()
	g := b.Build()
	carriers := func(yield func(graph.ID, []string) bool) {
		for i := range g.Len() {
			if !yield(graph.ID(i), g.Finalizers(graph.ID(i))) {
				return
			}
		}
	}
	all := func(string, finalizer.Known, bool) bool { return true }
	for most, want := range map[int]int{0: 0, 1: 4, 2: 2, 3: 1, 4: 0} {
		classes, left := (&Finder{}).Classes(g, carriers, most, all)
		if most > 0 && len(classes) != most || left != want {
			t.Errorf("at most %d: %d classes, %d left, want %d", most, len(classes), left, want)
		}
		if i := slices.IndexFunc(classes, func(c *Class) bool { return len(c.Objects) == 2 }); i != 0 {
			t.Errorf("at most %d: the first class has not both objects", most)
		}
	}
}
