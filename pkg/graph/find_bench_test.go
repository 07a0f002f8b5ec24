package graph_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/linear"
)

// spread builds a graph of n config maps, each with one dependent, in so many namespaces.
func spread(n, namespaces int) *graph.Graph {
	b := newBuilder()
	l := b.Listing(configMaps, "")
	for i := range n {
		ns, owner := fmt.Sprintf("ns-%05d", i%namespaces), fmt.Sprintf("owner-%07d", i)
		l.Add(graph.Object{Namespace: ns, Name: owner, UID: owner}, graph.Object{
			Namespace: ns, Name: fmt.Sprintf("dependent-%07d", i), UID: fmt.Sprintf("dependent-%07d", i),
			Owners: []graph.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: owner}},
		})
	}
	l.Complete()
	return b.Build()
}

// BenchmarkLinearBuild builds a graph.
func BenchmarkLinearBuild(b *testing.B) {
	linear.Bench(b, 12_500, func(_ *testing.B, n int) func() { return func() { spread(n, 50) } })
}

// BenchmarkLinearFind finds every object of one namespace by its name.
func BenchmarkLinearFind(b *testing.B) {
	linear.Bench(b, 10_000, func(b *testing.B, n int) func() {
		g := spread(n, 1)
		return func() {
			for i := range g.Len() {
				r := g.Ref(graph.ID(i))
				if id, ok := g.Find(r.Group(), r.Resource, r.Namespace, r.Name); !ok || int(id) != i {
					b.Fatalf("%d is not found by its name", i)
				}
			}
		}
	})
}

// BenchmarkLinearNamespaces looks for the heads of each namespace.
func BenchmarkLinearNamespaces(b *testing.B) {
	linear.Bench(b, 400, func(b *testing.B, n int) func() {
		g := spread(20*n, n)
		return func() {
			for i := range n {
				var content []graph.ID
				for id := range g.InNamespace(fmt.Sprintf("ns-%05d", i)) {
					content = append(content, id)
				}
				if heads := g.Heads(content); len(heads) != 20 {
					b.Fatalf("%d heads of %d objects, want 20", len(heads), len(content))
				}
			}
		}
	})
}

// BenchmarkLinearRelated finds what is above and below half of the objects.
func BenchmarkLinearRelated(b *testing.B) {
	linear.Bench(b, 10_000, func(_ *testing.B, n int) func() {
		g := spread(n, 2)
		return func() { g.Related(func(id graph.ID) bool { return g.Ref(id).Namespace == "ns-00001" }) }
	})
}
