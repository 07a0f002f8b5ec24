package graph_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

const (
	benchDeployments = 3_875
	benchReplicaSets = 7_750
	benchPods        = 77_500
	benchConfigMaps  = 10_875 // which make it 100,000
)

// benchCluster calls add with each object of a cluster of 100,000, page by page as a decoder would:
// the strings that only one object has in one allocation, those that many have once for each page.
func benchCluster(add func(graph.Type, *graph.Object)) {
	r := rand.New(rand.NewPCG(1, 2))
	namespace := func(i int) string { return fmt.Sprintf("team-%03d-production", i%150) }
	uid := func(kind, i int) string {
		return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", i*2654435761&0xffffffff, kind, i&0xfff, kind, i)
	}
	suffix := func(n int) string {
		const letters = "bcdfghjklmnpqrstvwxz2456789"
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return string(b)
	}
	var o graph.Object
	object := func(kind, i int, namespace, name string) *graph.Object {
		id := uid(kind, i)
		s := name + id + fmt.Sprintf("%08d", 10_000_000+r.IntN(1_000_000))
		o = graph.Object{
			Namespace: namespace, Name: s[:len(name)], UID: s[len(name) : len(name)+len(id)],
			ResourceVersion:   s[len(name)+len(id):],
			CreationTimestamp: 1_700_000_000 + int64(i), Owners: o.Owners[:0], Finalizers: o.Finalizers[:0],
		}
		return &o
	}
	deployment := func(i int) string { return fmt.Sprintf("checkout-service-%04d", i) }
	for i := range benchDeployments {
		d := object(1, i, namespace(i), deployment(i))
		d.Generation = 3
		add(deployments, d)
	}
	generations := make([]string, benchReplicaSets)
	for i := range generations {
		d := i % benchDeployments
		generations[i] = deployment(d) + "-" + suffix(10)
		rs := object(2, i, namespace(d), generations[i])
		rs.Owners = append(rs.Owners, graph.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: deployment(d),
			UID: uid(1, d), Controller: true, Block: true})
		add(replicaSets, rs)
	}
	for i := range benchPods {
		rs := i % benchReplicaSets
		pod := object(3, i, namespace(rs%benchDeployments), generations[rs]+"-"+suffix(5))
		pod.Owners = append(pod.Owners,
			graph.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: generations[rs], UID: uid(2, rs),
				Controller: true, Block: true})
		add(pods, pod)
	}
	for i := range benchConfigMaps {
		add(configMaps, object(4, i, namespace(i), fmt.Sprintf("checkout-service-%04d-settings", i)))
	}
}

func benchGraph() *graph.Graph {
	b := newBuilder()
	listings := map[graph.Type]*graph.Listing{}
	for _, t := range []graph.Type{deployments, replicaSets, pods, configMaps} {
		listings[t] = b.Listing(t, "")
	}
	benchCluster(func(t graph.Type, o *graph.Object) { listings[t].Add(*o) })
	for _, l := range listings {
		l.Complete()
	}
	return b.Build()
}

// BenchmarkBuild100k builds the graph of 100,000 objects, of which 11,625 own others.
func BenchmarkBuild100k(b *testing.B) {
	type addition struct {
		graph.Type
		graph.Object
	}
	var all []addition
	benchCluster(func(t graph.Type, o *graph.Object) {
		kept := *o
		kept.Owners = append([]graph.OwnerReference(nil), o.Owners...)
		all = append(all, addition{t, kept})
	})
	b.ReportAllocs()
	for b.Loop() {
		builder := newBuilder()
		listings := map[graph.Type]*graph.Listing{}
		for i := range all {
			l, ok := listings[all[i].Type]
			if !ok {
				l = builder.Listing(all[i].Type, "")
				listings[all[i].Type] = l
			}
			l.Add(all[i].Object)
		}
		for _, l := range listings {
			l.Complete()
		}
		if g := builder.Build(); g.Len() != len(all) {
			b.Fatalf("%d nodes, want %d", g.Len(), len(all))
		}
	}
}

// BenchmarkMemory100k reports what one object takes of the heap when nothing but the graph is left,
// strings included. The aim is at most 400 bytes.
func BenchmarkMemory100k(b *testing.B) {
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // a second time for what finalizers and pools held
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	var g *graph.Graph
	for b.Loop() {
		g = benchGraph()
	}
	b.ReportMetric(float64(heap()-before)/float64(g.Len()), "B/object")
	runtime.KeepAlive(g)
}

// BenchmarkTree100k draws the forest of the same cluster.
func BenchmarkTree100k(b *testing.B) {
	g := benchGraph()
	roots := g.Roots()
	for b.Loop() {
		if rows := g.Tree(roots, graph.TreeOptions{Depth: -1}); len(rows) != g.Len() {
			b.Fatalf("%d rows, want %d", len(rows), g.Len())
		}
	}
}
