package render

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// TestWhoIgnoresAnObjectIsNotExpected: an actor that lives and leaves the object alone is not said to
// remove the finalizer.
func TestWhoIgnoresAnObjectIsNotExpected(t *testing.T) {
	t.Parallel()
	for because, want := range map[string]string{
		"the operator is running and is expected to remove it":                         "refused: it is running and is expected to remove it",
		"the operator is running, and does not remove it: it watches namespace a only": "refused: it is running, and does not remove it: it watches namespace a only",
	} {
		v := unfinalize.Assessment{FinalizerRef: unfinalize.FinalizerRef{Name: "a.dev/x", Field: finalizer.InMetadata},
			Refusals: []unfinalize.Refusal{{Code: unfinalize.ActorAlive, Because: because}}}
		got := strings.Join(explainFinalizer(&unfinalize.Candidate{}, v, unfinalize.Overrides{}), "\n")
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", because, got)
		}
	}
}
