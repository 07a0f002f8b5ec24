package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// BenchmarkPlan50k plans the deletion of an owner of 500 objects that own 100 each, in the
// foreground.
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

// BenchmarkPlan50kOrphans is the same with one object among them that orphans: the deletion is
// simulated in other orders too.
func BenchmarkPlan50kOrphans(b *testing.B) {
	g, root := cascade(500, 100, OrphanFinalizer)
	b.ResetTimer()
	for range b.N {
		if p := New(g, []graph.ID{root}, Background, Options{}); len(p.Deleted) != g.Len()-100 {
			b.Fatalf("%d of %d objects deleted", len(p.Deleted), g.Len())
		}
	}
}

// BenchmarkPlan50kStuck is the same with finalizers on 5,000 objects: of half of them who removes
// them goes with the deletion, and of the others does not. It includes that the plan is made twice,
// before and after that is known.
func BenchmarkPlan50kStuck(b *testing.B) {
	g, root := cascadeOf(500, 100, func(name string) []string {
		if strings.HasSuffix(name, "0") {
			return []string{"example.com/cleanup"}
		}
		return nil
	})
	operator, _ := g.Find("", "configmaps", "ns", "m1-1")
	needs := Needs{}
	for i := range g.Len() {
		if id := graph.ID(i); len(g.Finalizers(id)) > 0 {
			actor := Actor{operator}
			if len(needs)%2 == 1 {
				actor = Actor{id} // which is there until it is released itself
			}
			needs[id] = []Removers{{actor}}
		}
	}
	b.ResetTimer()
	b.ReportMetric(float64(len(needs)), "needs")
	for b.Loop() {
		p := New(g, []graph.ID{root}, Background, Options{}).With(needs)
		if len(p.Stuck()) == 0 || len(p.Deleted) < g.Len()/2 {
			b.Fatalf("%d of %d objects deleted, %d stuck", len(p.Deleted), g.Len(), len(p.Stuck()))
		}
	}
}

// cascade is one owner of so many objects that each own so many. The first of those has finalizers.
func cascade(width, leaves int, finalizers ...string) (*graph.Graph, graph.ID) {
	return cascadeOf(width, leaves, func(name string) []string {
		if name == "m0" {
			return finalizers
		}
		return nil
	})
}

// cascadeOf is one owner of so many objects that each own so many, with finalizers by name.
func cascadeOf(width, leaves int, finalizers func(name string) []string) (*graph.Graph, graph.ID) {
	b := graph.NewBuilder()
	t := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	b.Serve(t)
	l := b.Listing(t, "")
	add := func(name, owner string) string {
		uid := "uid-" + name
		o := graph.Object{Namespace: "ns", Name: name, UID: uid, CreationTimestamp: 1, Finalizers: finalizers(name)}
		if owner != "" {
			o.Owners = []graph.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: "uid-" + owner,
				Block: true}}
		}
		l.Add(o)
		return name
	}
	root := add("root", "")
	for i := range width {
		middle := add(fmt.Sprintf("m%d", i), root)
		for j := range leaves {
			add(fmt.Sprintf("m%d-%d", i, j), middle)
		}
	}
	l.Complete()
	g := b.Build()
	id, _ := g.Lookup("uid-root")
	return g, id
}
