package unfinalize

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
)

// ActorFinder finds out who removes finalizers, and whether they are alive: actor.Finder does.
type ActorFinder interface {
	Of(ctx context.Context, o *unstructured.Unstructured, finalizer string) (actor.Actor, error)
}
