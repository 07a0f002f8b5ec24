package unfinalize

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
)

// ActorFinder finds out who removes finalizers, whether they are alive, and what of the objects keeps
// them from it, and by what it is known that the garbage collector does not run: actor.Finder does.
type ActorFinder interface {
	Judge(ctx context.Context, o *unstructured.Unstructured, finalizer string) (actor.Actor, error)
	Stopped(ctx context.Context) ([]string, error)
}
