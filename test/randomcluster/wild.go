package randomcluster

import (
	"context"
	"math/rand/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// CreateWild makes a random cluster as a collector may find it that begins late: finalizers are
// everywhere, more owners are absent, in another namespace, of another kind or name, more of them
// own each other in cycles, and a third of the objects were deleted already, with any policy. No
// collector may run meanwhile: what is made depends on the random numbers only.
func (w *World) CreateWild(ctx context.Context, namespace string, rng *rand.Rand) error {
	if err := w.createNamespace(ctx, namespace); err != nil {
		return err
	}
	var made []*unstructured.Unstructured
	for i := range 3 + rng.IntN(8) {
		o := w.newObject(namespace, i, rng)
		o.SetFinalizers(randomFinalizers(4, rng))
		o.SetOwnerReferences(w.wildOwners(made, rng))
		created, err := w.resource(o.GetKind(), namespace).Create(ctx, o, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		made = append(made, created)
	}
	for len(made) > 1 && rng.IntN(3) == 0 {
		if err := w.close(ctx, made[rng.IntN(len(made)/2)], made[len(made)/2+rng.IntN(len(made)-len(made)/2)], rng); err != nil {
			return err
		}
	}
	for _, o := range made {
		if rng.IntN(3) != 0 {
			continue
		}
		ref := graph.Ref{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID())}
		if err := w.Delete(ctx, ref, string(policies[rng.IntN(len(policies))])); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) wildOwners(made []*unstructured.Unstructured, rng *rand.Rand) []metav1.OwnerReference {
	var refs []metav1.OwnerReference
	used := map[types.UID]bool{}
	for range rng.IntN(4) {
		owner := w.elsewhere
		if len(made) > 0 && rng.IntN(24) != 0 {
			owner = made[rng.IntN(len(made))]
		}
		if used[owner.GetUID()] {
			continue
		}
		used[owner.GetUID()] = true
		ref := reference(owner, rng)
		how := rng.IntN(20)
		if how == 4 { // an owner that is absent is twice as likely
			how = 3
		}
		spoil(&ref, how, rng)
		refs = append(refs, ref)
	}
	return refs
}
