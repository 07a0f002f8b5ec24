package finalizers

import (
	"fmt"
	"slices"
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

// TestTheNewestJobsAreRead: those that were made since a time, and no more than a few.
func TestTheNewestJobsAreRead(t *testing.T) {
	t.Parallel()
	jobs := graph.Type{Group: "batch", Version: "v1", Resource: "jobs", Kind: "Job", Namespaced: true}
	b := graph.NewBuilder()
	l := b.Listing(jobs, "n")
	for i := range int64(100) {
		l.Add(graph.Object{Namespace: "n", Name: fmt.Sprint("j-", i), UID: fmt.Sprint(i), CreationTimestamp: i})
	}
	g := b.Build()
	for since, want := range map[int64]int{0: mostJobs, 99: 1, 95: 5, 100: 0} {
		got := newest(g, slices.Collect(g.OfType("batch", "jobs", "n")), since)
		if len(got) != want || want > 0 && g.CreationTimestamp(got[0]) != 99 {
			t.Errorf("since %d: %d, want %d", since, len(got), want)
		}
	}
}
