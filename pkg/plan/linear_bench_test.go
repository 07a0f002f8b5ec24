package plan

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/test/linear"
)

// shape builds graphs of one shape in any size.
type shape struct {
	*graph.Builder
	listings map[graph.Type]*graph.Listing
}

var (
	shapeConfigMaps  = graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	shapeNamespaces  = graph.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}
	shapeDefinitions = graph.Type{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
		Kind: "CustomResourceDefinition"}
	shapeWidgets = graph.Type{Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true}
)

func newShape() *shape {
	s := &shape{graph.NewBuilder(), map[graph.Type]*graph.Listing{}}
	for _, t := range []graph.Type{shapeConfigMaps, shapeNamespaces, shapeDefinitions, shapeWidgets} {
		s.Serve(t)
		s.listings[t] = s.Listing(t, "")
	}
	return s
}

func (s *shape) add(t graph.Type, namespace, name string, finalizers []string, owners ...string) {
	o := graph.Object{Namespace: namespace, Name: name, UID: "uid-" + namespace + name, CreationTimestamp: 1,
		Finalizers: finalizers}
	for _, owner := range owners {
		o.Owners = append(o.Owners, graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner,
			UID: "uid-" + namespace + owner, Block: true})
	}
	s.listings[t].Add(o)
}

// configMap adds one to the namespace ns.
func (s *shape) configMap(name string, owners ...string) {
	s.add(shapeConfigMaps, "ns", name, nil, owners...)
}

func (s *shape) build() *graph.Graph {
	for _, l := range s.listings {
		l.Complete()
	}
	return s.Build()
}

// all returns the objects whose names begin so.
func named(g *graph.Graph, prefix string) []graph.ID {
	var ids []graph.ID
	for i := range g.Len() {
		if name := g.Name(graph.ID(i)); g.Observed(graph.ID(i)) && len(name) >= len(prefix) && name[:len(prefix)] == prefix {
			ids = append(ids, graph.ID(i))
		}
	}
	return ids
}

func number(i int) string { return fmt.Sprintf("%07d", i) }

// linearPlans are the plans whose cost has to grow as their objects do, with the smaller of the two
// sizes that are compared.
var linearPlans = []struct {
	name string
	n    int
	plan func(n int) func() *Plan
}{
	{"Roots", 10_000, func(n int) func() *Plan {
		s := newShape()
		for i := range n {
			s.configMap("root" + number(i))
		}
		return deletionOf(s.build(), "root", Background, Options{})
	}},
	{"OwnersOfOne", 10_000, func(n int) func() *Plan {
		s := newShape()
		for i := range n {
			s.configMap("root" + number(i))
			s.configMap("dependent"+number(i), "root"+number(i))
		}
		return deletionOf(s.build(), "root", Foreground, Options{})
	}},
	{"OwnersOrphaning", 10_000, func(n int) func() *Plan {
		s := newShape()
		for i := range n {
			s.configMap("root" + number(i))
			s.configMap("dependent"+number(i), "root"+number(i))
		}
		return deletionOf(s.build(), "root", Orphan, Options{})
	}},
	{"OneOwner", 25_000, func(n int) func() *Plan {
		s := newShape()
		s.configMap("root")
		for i := range n {
			s.configMap("dependent"+number(i), "root")
		}
		return deletionOf(s.build(), "root", Foreground, Options{})
	}},
	{"OneOwnerOrphaning", 25_000, func(n int) func() *Plan {
		s := newShape()
		s.configMap("root")
		for i := range n {
			s.configMap("dependent"+number(i), "root")
		}
		return deletionOf(s.build(), "root", Orphan, Options{})
	}},
	{"ManyOwners", 5_000, func(n int) func() *Plan {
		s := newShape()
		var owners []string
		for i := range n {
			owners = append(owners, "root"+number(i))
			s.configMap(owners[i])
		}
		s.configMap("dependent", owners...)
		return deletionOf(s.build(), "root", Foreground, Options{})
	}},
	{"SharedOwners", 10_000, func(n int) func() *Plan { // all dependents have two owners, one of which stays
		s := newShape()
		s.configMap("root")
		s.configMap("stays")
		for i := range n {
			s.configMap("dependent"+number(i), "root", "stays")
		}
		return deletionOf(s.build(), "root", Background, Options{})
	}},
	{"Chain", 5_000, func(n int) func() *Plan {
		s := newShape()
		s.configMap("root")
		for i, owner := 0, "root"; i < n; i++ {
			s.configMap("link"+number(i), owner)
			owner = "link" + number(i)
		}
		return deletionOf(s.build(), "root", Foreground, Options{})
	}},
	{"ChainOfRoots", 5_000, func(n int) func() *Plan {
		s := newShape()
		s.configMap("root")
		for i, owner := 0, "root"; i < n; i++ {
			s.configMap("root"+number(i), owner)
			owner = "root" + number(i)
		}
		return deletionOf(s.build(), "root", Background, Options{})
	}},
	{"ChainStrict", 5_000, func(n int) func() *Plan {
		s := newShape()
		s.configMap("root")
		for i, owner := 0, "root"; i < n; i++ {
			s.listings[shapeConfigMaps].Add(graph.Object{Namespace: "ns", Name: "link" + number(i),
				UID: "uid-nslink" + number(i), CreationTimestamp: 1,
				Owners: []graph.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: "uid-ns" + owner}}})
			owner = "link" + number(i)
		}
		return deletionOf(s.build(), "root", Foreground, Options{Strict: true})
	}},
	{"ChainOfFinalizers", 5_000, func(n int) func() *Plan {
		s := newShape()
		s.configMap("root")
		for i, owner := 0, "root"; i < n; i++ {
			s.add(shapeConfigMaps, "ns", "link"+number(i), []string{"example.com/f"}, owner)
			owner = "link" + number(i)
		}
		return deletionOf(s.build(), "root", Foreground, Options{})
	}},
	{"Cycles", 5_000, func(n int) func() *Plan { // of two, below one root
		s := newShape()
		s.configMap("root")
		for i := range n {
			a, b := "a"+number(i), "b"+number(i)
			s.configMap(a, "root", b)
			s.configMap(b, a)
		}
		return deletionOf(s.build(), "root", Foreground, Options{})
	}},
	{"NamespaceContent", 25_000, func(n int) func() *Plan {
		s := newShape()
		s.add(shapeNamespaces, "", "root", nil)
		for i := range n {
			s.add(shapeConfigMaps, "root", "content"+number(i), nil)
		}
		return deletionOf(s.build(), "root", Background, Options{})
	}},
	{"NamespaceOfFinalizers", 10_000, func(n int) func() *Plan {
		s := newShape()
		s.add(shapeNamespaces, "", "root", nil)
		for i := range n {
			s.add(shapeConfigMaps, "root", "content"+number(i), []string{"example.com/f"})
		}
		return deletionOf(s.build(), "root", Background, Options{})
	}},
	{"Namespaces", 400, func(n int) func() *Plan {
		s := newShape()
		for i := range n {
			s.add(shapeNamespaces, "", "root"+number(i), nil)
			for j := range 50 {
				s.add(shapeConfigMaps, "root"+number(i), "content"+number(j), nil)
			}
		}
		return deletionOf(s.build(), "root", Background, Options{})
	}},
	{"StuckNamespaces", 400, func(n int) func() *Plan {
		s := newShape()
		for i := range n {
			s.add(shapeNamespaces, "", "root"+number(i), nil)
			for j := range 10 {
				s.add(shapeConfigMaps, "root"+number(i), "content"+number(j), []string{"example.com/f"})
			}
		}
		return deletionOf(s.build(), "root", Background, Options{})
	}},
	{"Instances", 10_000, func(n int) func() *Plan {
		s := newShape()
		s.add(shapeDefinitions, "", "widgets.example.com", []string{"customresourcecleanup.apiextensions.k8s.io"})
		for i := range n {
			s.add(shapeWidgets, "ns", "widget-"+number(i), nil)
		}
		return deletionOf(s.build(), "widgets.", Background, Options{})
	}},
	{"InstancesThatOwn", 5_000, func(n int) func() *Plan { // in a chain, so that they go one after the other
		s := newShape()
		s.add(shapeDefinitions, "", "widgets.example.com", nil)
		for i := range n {
			s.add(shapeWidgets, "ns", "widget-"+number(i), []string{"example.com/f", ForegroundFinalizer})
			s.configMap("dependent"+number(i), "widget-"+number(i))
		}
		return deletionOf(s.build(), "widgets.", Background, Options{})
	}},
	{"Run", 10_000, func(n int) func() *Plan {
		s := newShape()
		for i := range n {
			s.configMap("a"+number(i), "gone"+number(i))
			s.configMap("b"+number(i), "a"+number(i))
		}
		g := s.build()
		return func() *Plan { return NewRun(g, Options{Rules: Loop}) }
	}},
	{"RunWithGaps", 2_500, func(n int) func() *Plan {
		s := newShape()
		for i := range n {
			s.add(shapeConfigMaps, "ns", "a"+number(i), []string{OrphanFinalizer}, "gone")
			s.configMap("b"+number(i), "a"+number(i))
		}
		g := s.build()
		return func() *Plan {
			return NewRun(g, Options{Rules: Loop,
				Gaps: []v1alpha1.Gap{{Resource: "secrets", Namespace: "other", Reason: v1alpha1.GapForbidden}}})
		}
	}},
	{"RunDeadlocks", 2_500, func(n int) func() *Plan {
		s := newShape()
		for i := range n {
			for _, pair := range [][2]string{{"a", "b"}, {"b", "a"}} {
				name, owner := pair[0]+number(i), pair[1]+number(i)
				s.listings[shapeConfigMaps].Add(graph.Object{Namespace: "ns", Name: name, UID: "uid-ns" + name,
					CreationTimestamp: 1, DeletionTimestamp: 2, Finalizers: []string{ForegroundFinalizer},
					Owners: []graph.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: "uid-ns" + owner,
						Block: true}}})
			}
		}
		g := s.build()
		return func() *Plan { return NewRun(g, Options{Rules: Loop, Overrides: Overrides{BreakDeadlocks: true}}) }
	}},
}

func deletionOf(g *graph.Graph, prefix string, policy Policy, opts Options) func() *Plan {
	roots := named(g, prefix)
	return func() *Plan {
		opts.Links = link.New(g)
		return New(g, roots, policy, opts)
	}
}

// BenchmarkLinearPlan makes each of the plans.
func BenchmarkLinearPlan(b *testing.B) {
	for _, l := range linearPlans {
		b.Run(l.name, func(b *testing.B) {
			linear.Bench(b, l.n, func(b *testing.B, n int) func() {
				plan := l.plan(n)
				return func() {
					if p := plan(); len(p.Actions) == 0 && len(p.Deadlocked) == 0 {
						b.Fatal("the plan does nothing")
					}
				}
			})
		})
	}
}

// BenchmarkLinearLinks plans the deletion of an object that names many, half of which are kept, and
// half waited for.
func BenchmarkLinearLinks(b *testing.B) {
	linear.Bench(b, 10_000, func(b *testing.B, n int) func() {
		s := newShape()
		s.add(shapeConfigMaps, "ns", "root", []string{"example.com/app"})
		for i := range n {
			s.add(shapeConfigMaps, "ns", "end"+number(i), []string{"example.com/f"})
		}
		g := s.build()
		root := named(g, "root")
		d := &link.Definition{Name: "resource",
			Deletion: link.Deletion{Of: link.End, By: "Argo CD", Finalizer: "example.com/app"}}
		var found []link.Found
		for i, end := range named(g, "end") {
			found = append(found, link.Found{Definition: d, Source: root[0], End: end, Confirmed: i%4 < 2,
				Effect: link.Effect{Deletes: i%2 == 0, Policy: link.Foreground, Waits: true}})
		}
		links := link.New(g, found...)
		return func() {
			if p := New(g, root, Background, Options{Links: links}); len(p.Deleted) != n/2+1 || len(p.Kept) != n/2 {
				b.Fatalf("%d deleted, %d kept", len(p.Deleted), len(p.Kept))
			}
		}
	})
}

// BenchmarkLinearGrowth compares a plan with one that was agreed to.
func BenchmarkLinearGrowth(b *testing.B) {
	linear.Bench(b, 25_000, func(b *testing.B, n int) func() {
		p := linearPlans[1].plan(n)()
		return func() {
			if !p.Beyond(p).None() {
				b.Fatal("a plan is beyond itself")
			}
		}
	})
}

// BenchmarkLinearOwnerLosses counts the owners that are gone.
func BenchmarkLinearOwnerLosses(b *testing.B) {
	linear.Bench(b, 25_000, func(b *testing.B, n int) func() {
		s := newShape()
		for i := range n {
			s.configMap("a"+number(i), "gone"+number(i))
		}
		p := NewRun(s.build(), Options{Rules: Loop})
		return func() {
			if len(p.OwnerLosses(nil)) != 1 {
				b.Fatal("no owners are gone all at once")
			}
		}
	})
}

// BenchmarkLinearLearn adds to a plan what was read of its pods and StatefulSets.
func BenchmarkLinearLearn(b *testing.B) {
	linear.Bench(b, 5_000, func(_ *testing.B, n int) func() {
		s := newShape()
		sets := graph.Type{Group: "apps", Version: "v1", Resource: "statefulsets", Kind: "StatefulSet", Namespaced: true}
		claims := graph.Type{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim",
			Namespaced: true}
		for _, t := range []graph.Type{sets, claims} {
			s.listings[t] = s.Listing(t, "")
		}
		for i := range n {
			s.add(sets, "ns", "root"+number(i), nil)
			for j := range 3 {
				s.add(claims, "ns", fmt.Sprintf("data-root%s-%d", number(i), j), nil)
			}
		}
		g := s.build()
		facts := Details{StatefulSets: map[graph.ID]StatefulSet{}}
		for _, id := range named(g, "root") {
			facts.StatefulSets[id] = StatefulSet{Templates: []string{"data"}}
		}
		plan := deletionOf(g, "root", Background, Options{})
		return func() { plan().Learn(facts) }
	})
}
