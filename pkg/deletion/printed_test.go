package deletion

import (
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestWhatIsLeftAfterAWhileIsNotSaidToBeKept: no finalizer has shown that the program did what it
// does, so that it may still delete the object.
func TestWhatIsLeftAfterAWhileIsNotSaidToBeKept(t *testing.T) {
	t.Parallel()
	pod := graph.Ref{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespace: "shop", Name: "web", UID: "pod"}
	node := graph.Ref{APIVersion: "v1", Kind: "Node", Resource: "nodes", Name: "worker", UID: "node"}
	for within, want := range map[time.Duration][2]string{
		0: {"kept: Node/worker, which was to delete it, is gone",
			"Pod/web was kept: Node/worker, which was to delete it, is gone"},
		3 * time.Minute: {"not deleted yet, 3m after Node/worker was gone",
			"Pod/web was not deleted within 3m after Node/worker was gone: see whether the program that deletes it runs"},
	} {
		k := act.KeptObject{Object: pod, By: node, Within: within}
		if got := keptBecause(k); got != want[0] {
			t.Errorf("because %q, want %q", got, want[0])
		}
		if got := keptError([]act.KeptObject{k}).Error(); got != want[1] {
			t.Errorf("error %q, want %q", got, want[1])
		}
	}
}
