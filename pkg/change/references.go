package change

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

const ownerReferences = "/metadata/ownerReferences"

// RemoveReference removes the reference at a place in the list, after a test that it is the one to
// the owner with the uid. Of several, the last has to go first, so that each step finds what it
// means where it was.
func RemoveReference(at int, uid string) []cluster.PatchStep {
	return editReference(at, uid, cluster.PatchStep{Op: "remove"})
}

// ReplaceReference replaces the reference at a place, after a test that it is the one to the owner
// with the uid.
func ReplaceReference(at int, uid string, r any) []cluster.PatchStep {
	return editReference(at, uid, cluster.PatchStep{Op: "replace", Value: r})
}

// SetInReference sets a field of the reference at a place, after a test that it is the one to the
// owner with the uid.
func SetInReference(at int, uid, field string, value any) []cluster.PatchStep {
	return editReference(at, uid, cluster.PatchStep{Op: "add", Path: "/" + field, Value: value})
}

func editReference(at int, uid string, step cluster.PatchStep) []cluster.PatchStep {
	path := fmt.Sprintf("%s/%d", ownerReferences, at)
	step.Path = path + step.Path
	return []cluster.PatchStep{{Op: "test", Path: path + "/uid", Value: uid}, step}
}

// AddReference puts a reference at a place of the list, which has a number of others by then.
func AddReference(at, others int, r any) cluster.PatchStep {
	if others == 0 {
		return cluster.PatchStep{Op: "add", Path: ownerReferences, Value: []any{r}}
	}
	return cluster.PatchStep{Op: "add", Path: fmt.Sprintf("%s/%d", ownerReferences, at), Value: r}
}

// HasOwner reports whether an object has a reference to the owner with the uid.
func HasOwner(o *graph.Object, uid string) bool {
	return slices.ContainsFunc(o.Owners, func(r graph.OwnerReference) bool { return r.UID == uid })
}

// RemoveReferences removes those references of the object that choose returns, decided on the
// object as it is, and returns them; none if there was nothing to remove. The errors are those of
// Patch, and a cluster.PutBackError if the answer has one of them.
func (o Object) RemoveReferences(ctx context.Context, opts cluster.PatchOptions,
	choose func(now *graph.Object) ([]graph.OwnerReference, error),
) (removed []graph.OwnerReference, err error) {
	_, err = o.Patch(ctx, Patch{
		PatchOptions: opts,
		Decide: func(now *graph.Object) (steps []cluster.PatchStep, err error) {
			removed, err = choose(now)
			for i, r := range slices.Backward(now.Owners) {
				if slices.Contains(removed, r) {
					steps = append(steps, RemoveReference(i, r.UID)...)
				}
			}
			return steps, err
		},
		Verify: func(answered *graph.Object) error {
			for _, r := range removed {
				if HasOwner(answered, r.UID) {
					return o.Server.PutBackAtOnce(ctx, o.Type, words(r))
				}
			}
			return nil
		},
	})
	return removed, err
}

// words name a reference in an error.
func words(r graph.OwnerReference) string {
	return fmt.Sprintf("the reference to its owner %s %q", r.Kind, r.Name)
}
