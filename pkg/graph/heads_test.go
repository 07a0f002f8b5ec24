package graph_test

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

func TestHeads(t *testing.T) {
	g := shop()
	tests := []struct{ of, want string }{
		{"", ""},
		{"web", "web"},
		{"web api", "web api"},
		{"secret web", "web"},
		{"web-1-x secret web-2-y", "web-1-x secret web-2-y"},
		{"shared api web-2 web-1", "api web-2 web-1"},
		{"web web", "web"},
	}
	for _, tt := range tests {
		if got := names(g, g.Heads(nodes(t, g, strings.Fields(tt.of)...))); got != tt.want {
			t.Errorf("heads of %q are %q, want %q", tt.of, got, tt.want)
		}
	}
}

// TestHeadsOfAll: for the whole graph they are its roots.
func TestHeadsOfAll(t *testing.T) {
	for seed := range uint64(100) {
		g := build(randomListings(seed)...)
		all := make([]graph.ID, g.Len())
		for i := range all {
			all[i] = graph.ID(i)
		}
		if got, want := names(g, g.Heads(all)), names(g, g.Roots()); got != want {
			t.Errorf("seed %d: heads %q, roots %q", seed, got, want)
		}
	}
}
