package tree

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// TestWhatALinkNamedIsFollowedOfAnObjectThatWasGoneWhenItWasRead: an object that is being deleted
// may be gone by the time its links are read. Those of an object that stays are as they were read.
func TestWhatALinkNamedIsFollowedOfAnObjectThatWasGoneWhenItWasRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		deleted int64
		want    []string
	}{{0, nil}, {1700000000, []string{"composite"}}} {
		b := graph.NewBuilder()
		claims := b.Listing(graph.Type{Group: "example.org", Version: "v1", Resource: "databases", Kind: "Database",
			Namespaced: true}, "")
		claims.Add(graph.Object{Namespace: "ns", Name: "db", UID: "claim", DeletionTimestamp: tt.deleted})
		claims.Complete()
		g := b.Build()
		id, _ := g.Lookup("claim")
		before := &followed{roots: []string{"claim"}, linked: map[string][]string{"claim": {"composite"}}}
		next := before.follow(&Snapshot{Snapshot: &selection.Snapshot{Graph: g}, Rows: []graph.Row{{ID: id, Root: true}}})
		if got := next.linked["claim"]; !slices.Equal(got, tt.want) {
			t.Errorf("deleted at %d: %v is followed, want %v", tt.deleted, got, tt.want)
		}
	}
}
