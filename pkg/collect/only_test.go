package collect

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestOnlyActsOnWhatItIsToldTo: the owner is let go when its dependents have no references to it
// any more; nothing else is judged, not even a dependent whose other owner is gone.
func TestOnlyActsOnWhatItIsToldTo(t *testing.T) {
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("o", "o1 < o", "o2 < nobody o+", "other", "other1 < other", "gone < nobody", "f", "f1 < f+")
	s.delete(plan.Orphan, "o", "other")
	s.delete(plan.Foreground, "f")
	client, err := cluster.New(c.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	opts := s.options()
	opts.Allow = nil
	opts.Only = map[string]bool{string(s.uids["o"]): true}
	s.run(client, opts)
	want := []string{"-f | foregroundDeletion", "-other | orphan", "f1 < f+", "gone < nobody", "o1", "o2 < nobody",
		"other1 < other"}
	if got := s.left(); !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
}
