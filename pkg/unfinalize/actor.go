package unfinalize

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose"
)

// Lives finds out who takes finalizers off, and whether they are alive: diagnose.Actors does.
type Lives interface {
	Of(ctx context.Context, o *unstructured.Unstructured, finalizer string) (diagnose.Actor, error)
}
