package tree

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

var configMaps = graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}

// randomOwners is a graph of some objects, each with some owners among them: rings, several owners,
// two references to one, and owners that are absent.
func randomOwners(seed uint64) *graph.Graph {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := graph.NewBuilder()
	b.Serve(configMaps)
	listing, n := b.Listing(configMaps, ""), 1+rng.IntN(12)
	for i := range n {
		o := graph.Object{UID: fmt.Sprint(i), Name: fmt.Sprint(i), Namespace: "ns"}
		for range rng.IntN(4) * rng.IntN(2) {
			owner := fmt.Sprint(rng.IntN(n + 1))
			o.Owners = append(o.Owners, graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: owner})
		}
		listing.Add(o)
	}
	listing.Complete()
	return b.Build()
}

// TestSumIsWhatAPlanDeletes compares the sum of each object with the plan that deletes it.
func TestSumIsWhatAPlanDeletes(t *testing.T) {
	for seed := range uint64(3000) {
		g := randomOwners(seed)
		s := newSumming(g, nil, nil)
		for i := range g.Len() {
			id := graph.ID(i)
			if !g.Observed(id) {
				continue
			}
			p := plan.New(g, []graph.ID{id}, plan.Background, plan.Options{})
			if got := s.of(id).Objects; got != len(p.Deleted) {
				t.Fatalf("seed %d: %d go with %s, and a plan deletes %d", seed, got, g.Ref(id).Name, len(p.Deleted))
			}
		}
	}
}

// TestSumOfALongChain: each object takes what is below it, without a walk for each, though the last has
// an owner elsewhere too.
func TestSumOfALongChain(t *testing.T) {
	b := graph.NewBuilder()
	b.Serve(configMaps)
	listing, n := b.Listing(configMaps, ""), 100_000
	owner := func(name string) graph.OwnerReference {
		return graph.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: name}
	}
	for i := range n {
		o := graph.Object{UID: fmt.Sprint(i), Name: fmt.Sprint(i), Namespace: "ns"}
		if i > 0 {
			o.Owners = []graph.OwnerReference{owner(fmt.Sprint(i - 1))}
		}
		if i == n-1 {
			o.Owners = append(o.Owners, owner("other"))
		}
		listing.Add(o)
	}
	listing.Add(graph.Object{UID: "other", Name: "other", Namespace: "ns"})
	listing.Complete()
	g := b.Build()
	parts := map[graph.ID]Sum{}
	for i := range g.Len() {
		parts[graph.ID(i)] = Sum{Objects: 1, Requests: map[string]resource.Quantity{"cpu": resource.MustParse("10m")}}
	}
	s := newSumming(g, nil, parts)
	for of, want := range map[string]int{"0": n - 1, "50000": n/2 - 1, fmt.Sprint(n - 1): 1, "other": 1} {
		id, _ := g.Lookup(of)
		if got := s.of(id); got.Objects != want || got.Printed().Requests["cpu"] != resource.NewMilliQuantity(int64(10*want), resource.DecimalSI).String() {
			t.Errorf("%s: %+v, want %d objects", of, got.Printed(), want)
		}
	}
	for i := range n { // as a tree asks
		s.of(graph.ID(i))
	}
}
