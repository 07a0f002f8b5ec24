package diagnose

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// refusals returns why the server would not let anybody take the finalizers off an object that was read whole.
func (e *examiner) refusals(ctx context.Context, o *unstructured.Unstructured, finalizers []string) []finding {
	return nil
}

// rejected returns why the server would not let anybody delete an object.
func (e *examiner) rejected(ctx context.Context, id graph.ID) []finding { return nil }
