package plan

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// BenchmarkPlan500k plans the deletion of an owner of 500,000 objects, half of them below others.
func BenchmarkPlan500k(b *testing.B) {
	g, root := cascade(1000, 499)
	planAll(b, g, root)
}

// BenchmarkPlan500kOwners plans the deletion of one owner of 300,000 objects, of which 200,000
// others have five each.
func BenchmarkPlan500kOwners(b *testing.B) {
	g, root := shared(10_000, 30, 20, 5)
	planAll(b, g, root)
}

func planAll(b *testing.B, g *graph.Graph, root graph.ID) {
	b.Helper()
	for name, policy := range map[string]Policy{"background": Background, "foreground": Foreground} {
		b.Run(name, func(b *testing.B) {
			b.ReportMetric(float64(g.Len()), "objects")
			for b.Loop() {
				if p := New(g, []graph.ID{root}, policy, Options{}); len(p.Deleted) != g.Len() {
					b.Fatalf("%d of %d objects deleted", len(p.Deleted), g.Len())
				}
			}
		})
	}
}

// shared is one owner of so many objects in each of some namespaces, which have so many others
// there that are each owned by some of them.
func shared(namespaces, owned, others, owners int) (*graph.Graph, graph.ID) {
	b := graph.NewBuilder()
	roots := graph.Type{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles", Kind: "ClusterRole"}
	t := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	b.Serve(roots)
	b.Serve(t)
	l := b.Listing(roots, "")
	l.Add(graph.Object{Name: "root", UID: "root"})
	l.Complete()
	l = b.Listing(t, "")
	for n := range namespaces {
		namespace := fmt.Sprint("ns-", n)
		name := func(kind string, i int) string { return fmt.Sprintf("%s-%d-%d", kind, n, i) }
		for i := range owned {
			l.Add(graph.Object{Namespace: namespace, Name: name("owned", i), UID: name("owned", i),
				Owners: []graph.OwnerReference{{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "root",
					UID: "root"}}})
		}
		for i := range others {
			o := graph.Object{Namespace: namespace, Name: name("other", i), UID: name("other", i)}
			for k := range owners {
				owner := name("owned", (i+k*owned/owners)%owned)
				o.Owners = append(o.Owners, graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: owner})
			}
			l.Add(o)
		}
	}
	l.Complete()
	g := b.Build()
	id, _ := g.Lookup("root")
	return g, id
}
