package link_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/test/linear"
)

// BenchmarkLinearNamespaceLinks follows the links of each of many namespaces, in which half of the
// content owns the other.
func BenchmarkLinearNamespaceLinks(b *testing.B) {
	linear.Bench(b, 400, func(b *testing.B, n int) func() {
		all := newBuilder()
		for i := range n {
			ns := fmt.Sprintf("ns-%05d", i)
			all.add(namespaces, "/"+ns)
			for j := range 10 {
				owner := fmt.Sprintf("%s/owner-%d", ns, j)
				all.add(configMaps, owner)
				all.add(configMaps, fmt.Sprintf("%s/dependent-%d", ns, j), owner)
			}
		}
		g := all.Build()
		return func() {
			l := link.New(g)
			for id := range g.OfType("", "namespaces", "") {
				if heads := l.Dependents(id); len(heads) != 10 {
					b.Fatalf("%d links, want 10", len(heads))
				}
			}
		}
	})
}

// BenchmarkLinearInstanceLinks follows the links of a CRD with many instances.
func BenchmarkLinearInstanceLinks(b *testing.B) {
	linear.Bench(b, 10_000, func(b *testing.B, n int) func() {
		all := newBuilder()
		all.add(definitions, "/widgets.example.com")
		for i := range n {
			all.add(widgets, fmt.Sprintf("a/widget-%d", i))
		}
		g := all.Build()
		id, _ := g.Find(definitions.Group, definitions.Resource, "", "widgets.example.com")
		return func() {
			if l := link.New(g).Dependents(id); len(l) != n {
				b.Fatalf("%d links, want %d", len(l), n)
			}
		}
	})
}

// BenchmarkLinearFoundLinks has one object name many others.
func BenchmarkLinearFoundLinks(b *testing.B) {
	linear.Bench(b, 5_000, func(_ *testing.B, n int) func() {
		all := newBuilder()
		all.add(configMaps, "a/owner")
		for i := range n {
			all.add(configMaps, fmt.Sprintf("a/dependent-%d", i))
		}
		g := all.Build()
		owner, _ := g.Find("", "configmaps", "a", "owner")
		found := make([]link.Found, 0, n)
		for id := range g.OfType("", "configmaps", "a") {
			found = append(found, link.Found{Definition: &link.Definition{Name: "it"}, Source: owner, End: id})
		}
		return func() { link.New(g, found[:n/2]...).With(found[n/2:]...) }
	})
}
