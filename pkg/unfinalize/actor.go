package unfinalize

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
)

// ActorFinder finds out who removes finalizers, whether they are alive, and what uses the objects
// that they keep: actor.Finder does.
type ActorFinder interface {
	WithUsers(ctx context.Context, o *unstructured.Unstructured, finalizer string) (actor.Actor, error)
}
