package ownership

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// TestNothingIsUnderstoodOnceTheContextHasEnded: what an object names can take a while to read.
func TestNothingIsUnderstoodOnceTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := (&search{}).understand(ctx, 0, &unstructured.Unstructured{Object: map[string]any{}}, []*link.Definition{{}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
