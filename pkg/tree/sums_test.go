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
		s := &summing{g: g, private: map[graph.ID]bool{}, sums: map[graph.ID]Sum{}}
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

// TestSumOfALongChain: each object takes what is below it, without a walk for each.
func TestSumOfALongChain(t *testing.T) {
	b := graph.NewBuilder()
	b.Serve(configMaps)
	listing, n := b.Listing(configMaps, ""), 100_000
	for i := range n {
		o := graph.Object{UID: fmt.Sprint(i), Name: fmt.Sprint(i), Namespace: "ns"}
		if i > 0 {
			owner := fmt.Sprint(i - 1)
			o.Owners = []graph.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: owner}}
		}
		listing.Add(o)
	}
	listing.Complete()
	g := b.Build()
	s := &summing{g: g, private: map[graph.ID]bool{}, sums: map[graph.ID]Sum{}}
	s.requests = map[graph.ID]map[string]resource.Quantity{}
	for i := range n {
		id, _ := g.Lookup(fmt.Sprint(i))
		s.requests[id] = map[string]resource.Quantity{"cpu": resource.MustParse("10m")}
	}
	top, _ := g.Lookup("0")
	if sum := s.of(top); sum.Objects != n || sum.Printed().Requests["cpu"] != "1k" {
		t.Errorf("got %+v, want %d objects with 1k", sum.Printed(), n)
	}
}
