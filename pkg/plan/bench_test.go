package plan

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// BenchmarkPlan50k plans the deletion of an owner of 500 objects that own 100 each, in the foreground.
func BenchmarkPlan50k(b *testing.B) {
	g, root := cascade(500, 100)
	b.ResetTimer()
	b.ReportMetric(float64(g.Len()), "objects")
	for range b.N {
		p := New(g, []graph.ID{root}, Foreground, Options{})
		if len(p.Deleted) != g.Len() {
			b.Fatalf("%d of %d objects deleted", len(p.Deleted), g.Len())
		}
	}
}

// BenchmarkPlan50kOrphans is the same with one object among them that orphans: the deletion is simulated in other orders too.
func BenchmarkPlan50kOrphans(b *testing.B) {
	g, root := cascade(500, 100, OrphanFinalizer)
	b.ResetTimer()
	for range b.N {
		if p := New(g, []graph.ID{root}, Background, Options{}); len(p.Deleted) != g.Len()-100 {
			b.Fatalf("%d of %d objects deleted", len(p.Deleted), g.Len())
		}
	}
}

// cascade is one owner of so many objects that each own so many. The first of those has finalizers.
func cascade(width, leaves int, finalizers ...string) (*graph.Graph, graph.ID) {
	b := graph.NewBuilder()
	t := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	b.Serve(t)
	l := b.Listing(t, "")
	add := func(name, owner string, finalizers ...string) string {
		uid := "uid-" + name
		o := graph.Object{Namespace: "ns", Name: name, UID: uid, CreationTimestamp: 1, Finalizers: finalizers}
		if owner != "" {
			o.Owners = []graph.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: "uid-" + owner, Block: true}}
		}
		l.Add(o)
		return name
	}
	root := add("root", "")
	for i := range width {
		if i > 0 {
			finalizers = nil // the first has them
		}
		middle := add(fmt.Sprintf("m%d", i), root, finalizers...)
		for j := range leaves {
			add(fmt.Sprintf("m%d-%d", i, j), middle)
		}
	}
	l.Complete()
	g := b.Build()
	id, _ := g.Lookup("uid-root")
	return g, id
}
