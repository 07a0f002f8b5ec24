package randomcluster

import (
	"context"
	"math/rand/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// policies are what an object can be deleted with.
var policies = []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground,
	metav1.DeletePropagationOrphan}

// MostChanges is how many changes CreateAndChange makes at most.
const MostChanges = 6

// CreateAndChange makes a random cluster and changes it at once, while a collector works on it:
// objects are deleted, new ones get owners among those that were made, and old ones get one more.
// Before each change it pauses. What it does depends on the random numbers only, and not on what
// the collector has done until then, so that it does the same on every copy.
func (w *World) CreateAndChange(ctx context.Context, namespace string, rng *rand.Rand,
	pause func(context.Context) error) error {
	made, err := w.create(ctx, namespace, rng)
	if err != nil {
		return err
	}
	for range 2 + rng.IntN(MostChanges-1) {
		if err := pause(ctx); err != nil {
			return err
		}
		switch some := made[rng.IntN(len(made))]; rng.IntN(4) {
		case 0:
			created, err := w.createOne(ctx, namespace, len(made), made, rng)
			if err != nil {
				return err
			}
			made = append(made, created)
		case 1:
			if err := w.close(ctx, some, made[rng.IntN(len(made))], rng); err != nil {
				return err
			}
		default:
			ref := graph.Ref{Kind: some.GetKind(), Namespace: some.GetNamespace(), Name: some.GetName(),
				UID: string(some.GetUID())}
			if err := w.Delete(ctx, ref, string(policies[rng.IntN(len(policies))])); err != nil {
				return err
			}
		}
	}
	return nil
}
