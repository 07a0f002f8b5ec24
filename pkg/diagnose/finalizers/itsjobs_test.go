package finalizers

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestJobsThatAreCalledAfterAnObject: the longest name of an object of the type counts.
func TestJobsThatAreCalledAfterAnObject(t *testing.T) {
	t.Parallel()
	of := graph.Type{Group: "example.com", Version: "v1", Resource: "configurations", Kind: "Configuration", Namespaced: true}
	b := graph.NewBuilder()
	l := b.Listing(of, "n")
	for _, name := range []string{"web", "web-db", "db"} {
		l.Add(graph.Object{Namespace: "n", Name: name, UID: name})
	}
	g := b.Build()
	e := New(&core.Examination{Snapshot: core.Snapshot{Graph: g}}, nil)
	for _, test := range []struct {
		object, job string
		want        bool
	}{
		{"web", "web-destroy", true},
		{"web", "destroy-web", true},
		{"web", "web-db-destroy", false}, // that of web-db
		{"web-db", "web-db-destroy", true},
		{"web", "web-db", false},
		{"web", "website-destroy", false},
		{"web", "web", false},
		{"db", "db-destroy", false}, // too short to tell
	} {
		id, _ := g.Lookup(test.object)
		if got := e.needs.bestCalled(g.Ref(id), test.job); got != test.want {
			t.Errorf("%s after %s: %t", test.job, test.object, got)
		}
	}
}
