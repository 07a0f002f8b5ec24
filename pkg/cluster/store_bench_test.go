package cluster

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// BenchmarkStoreGraph builds the graph of a store that holds 100,000 objects of 500 types: of all
// of them, and around one that an event has touched.
func BenchmarkStoreGraph(b *testing.B) {
	s := (&Client{}).NewStore(b.Context(), ListOptions{}, func(Change) {})
	for n := range 500 {
		resource := fmt.Sprintf("type%d", n)
		listing := s.listing(&followed{})
		for i := range 200 {
			listing.Add(event(n*200+i, 0))
		}
		listing.hold(ResumePoint{Type: graph.Type{Group: "example.com", Version: "v1", Resource: resource, Kind: resource,
			Namespaced: true}})
	}
	s.retyped = false
	for name, around := range map[string][]string{"all": nil, "touched": {event(4711, 0).UID}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				into := graph.NewBuilder()
				if _, err := s.fill(b.Context(), into, &lister{}, around); err != nil {
					b.Fatal(err)
				}
				if g := into.Build(); around != nil && g.Len() != 2 { // it and its owner, which is not there
					b.Fatalf("%d objects", g.Len())
				}
			}
		})
	}
}
