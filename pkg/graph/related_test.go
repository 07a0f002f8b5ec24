package graph_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestRelated: what a seed owns and what owns it, and not what else they own.
func TestRelated(t *testing.T) {
	g := shop()
	tests := []struct{ seed, want string }{
		{"web-1", "web-1-x web web-1"},
		{"shared", "shared secret api web web-2"},
		{"api", "shared secret api"},
		{"", ""},
	}
	for _, tt := range tests {
		related := g.Related(func(id graph.ID) bool { return g.Ref(id).Name == tt.seed })
		var ids []graph.ID
		for id, is := range related {
			if is {
				ids = append(ids, graph.ID(id))
			}
		}
		if got := names(g, ids); got != tt.want {
			t.Errorf("related to %q: %q, want %q", tt.seed, got, tt.want)
		}
	}
}
