package act

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestWaitedForAreThoseThatAreBeingDeleted, since the others wait for these; without any it is all
// of them.
func TestWaitedForAreThoseThatAreBeingDeleted(t *testing.T) {
	claim, composite, bucket := Blocked{Object: graph.Ref{Name: "claim"}, Deleting: true},
		Blocked{Object: graph.Ref{Name: "composite"}}, Blocked{Object: graph.Ref{Name: "bucket"}}
	for name, test := range map[string]struct {
		left []Blocked
		want []string
	}{
		"one of three": {[]Blocked{claim, composite, bucket}, []string{"claim"}},
		"none of two":  {[]Blocked{composite, bucket}, []string{"composite", "bucket"}},
		"nothing left": {},
	} {
		var got []string
		for _, ref := range (&Result{Blocked: test.left}).WaitedFor() {
			got = append(got, ref.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
