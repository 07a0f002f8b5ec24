package env

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestWaitedForAreThoseThatAreBeingDeleted, since the others wait for these; without any it is all
// of them.
func TestWaitedForAreThoseThatAreBeingDeleted(t *testing.T) {
	claim, composite, bucket := act.Blocked{Object: graph.Ref{Name: "claim"}, Deleting: true},
		act.Blocked{Object: graph.Ref{Name: "composite"}}, act.Blocked{Object: graph.Ref{Name: "bucket"}}
	for name, test := range map[string]struct {
		left []act.Blocked
		want []string
	}{
		"one of three": {[]act.Blocked{claim, composite, bucket}, []string{"claim"}},
		"none of two":  {[]act.Blocked{composite, bucket}, []string{"composite", "bucket"}},
		"nothing left": {},
	} {
		var got []string
		for _, ref := range WaitedFor(test.left) {
			got = append(got, ref.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
