package ownership

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// TestNothingIsUnderstoodOnceTheContextHasEnded: what an object names can take a while to read.
func TestNothingIsUnderstoodOnceTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	objects := map[graph.ID]*unstructured.Unstructured{0: {Object: map[string]any{}}}
	links := func(graph.ID) []*link.Definition { return []*link.Definition{{}} }
	err := (&search{}).understand(ctx, []graph.ID{0}, objects, links)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
