package graph_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/linear"
)

// measure measures what is done to a graph of n objects, and of four times as many.
func measure(b *testing.B, make func(n int) *graph.Graph, run func(*testing.B, *graph.Graph)) {
	linear.Bench(b, 5_000, func(b *testing.B, n int) func() {
		g := make(n)
		return func() { run(b, g) }
	})
}

// ownerChain is a graph of config maps each of which owns the next.
func ownerChain(n int) *graph.Graph {
	objects := []graph.Object{object("a", "c00000")}
	for i := 1; i < n; i++ {
		objects = append(objects, object("a", fmt.Sprintf("c%05d", i), ref(configMaps, fmt.Sprintf("c%05d", i-1))))
	}
	return build(list(configMaps, objects...))
}

// BenchmarkLinearTreeOfAChain walks a chain of owners.
func BenchmarkLinearTreeOfAChain(b *testing.B) {
	measure(b, ownerChain, func(b *testing.B, g *graph.Graph) {
		if rows := g.Tree(g.Roots(), graph.TreeOptions{Depth: -1}); len(rows) != g.Len() {
			b.Fatalf("%d rows", len(rows))
		}
	})
}

// BenchmarkLinearTreeOfAllInAChain walks a chain of owners all of which are named.
func BenchmarkLinearTreeOfAllInAChain(b *testing.B) {
	measure(b, ownerChain, func(b *testing.B, g *graph.Graph) {
		all := make([]graph.ID, g.Len())
		for i := range all {
			all[i] = graph.ID(len(all) - 1 - i)
		}
		if rows := g.Tree(all, graph.TreeOptions{Depth: -1}); len(rows) != g.Len() {
			b.Fatalf("%d rows", len(rows))
		}
	})
}

// BenchmarkLinearTreeOfAHiddenHub walks half of n owners of a hidden object that owns the other
// half.
func BenchmarkLinearTreeOfAHiddenHub(b *testing.B) {
	measure(b, func(n int) *graph.Graph { return hub(n/2, n/2) }, func(b *testing.B, g *graph.Graph) {
		if rows := g.Tree(g.Roots(), withoutConfigMaps(g)); len(rows) > 4*g.Len() {
			b.Fatalf("%d rows", len(rows))
		}
	})
}

// BenchmarkLinearRelatedInAChain marks what belongs to the last object of a chain.
func BenchmarkLinearRelatedInAChain(b *testing.B) {
	measure(b, ownerChain, func(b *testing.B, g *graph.Graph) {
		last := graph.ID(g.Len() - 1)
		if related := g.Related(func(id graph.ID) bool { return id == last }); !related[0] {
			b.Fatal("the first is not related to the last")
		}
	})
}
