package ownerref

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Why a change was not made, where it is not the server that says so.
var (
	// ErrGone is of an object that does not exist any more.
	ErrGone = errors.New("it no longer exists")
	// ErrReplaced is of an object that was deleted and created again.
	ErrReplaced = errors.New("another object has its name now")
	// ErrMoved is of an object that changes all the time.
	ErrMoved = errors.New("it kept changing in the meantime: try again")
)

// maxTries is how often a write is tried against an object that changes all the time.
const maxTries = 10

// Patch changes the references of an object. Each try begins with a live read, which decide makes the steps of; they are sent with tests on the uid and on the
// resourceVersion of what was read. If decide returns no steps nothing is sent, and the answer is what was read. The error is that of decide, ErrGone, ErrReplaced,
// ErrMoved, or the server's.
func Patch(ctx context.Context, client *cluster.Client, t graph.Type, ref graph.Ref, opts cluster.PatchOptions,
	decide func(now *graph.Object) ([]cluster.PatchStep, error),
) (*graph.Object, error) {
	var refused error
	var version string // of what was refused
	for range maxTries {
		now, err := Read(ctx, client, t, ref)
		switch {
		case err != nil:
			return nil, err
		case refused != nil && now.ResourceVersion == version:
			return nil, refused // what it is, and not that it has changed
		}
		steps, err := decide(now)
		if err != nil {
			return nil, err
		}
		if len(steps) == 0 {
			return now, nil
		}
		answer, err := client.Patch(ctx, t, ref.Namespace, ref.Name, append(cluster.Unchanged(ref.UID, now.ResourceVersion), steps...), opts)
		switch {
		case err == nil:
			return answer, nil
		case !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) && !apierrors.IsNotFound(err):
			return nil, err
		}
		refused, version = err, now.ResourceVersion
	}
	return nil, ErrMoved
}

// Read reads an object live. The error is ErrGone, ErrReplaced, or the server's.
func Read(ctx context.Context, client *cluster.Client, t graph.Type, ref graph.Ref) (*graph.Object, error) {
	now, err := client.GetMeta(ctx, t, ref.Namespace, ref.Name)
	switch {
	case cluster.IsAbsent(err, t, ref.Name):
		return nil, ErrGone
	case err != nil:
		return nil, err
	case now.UID == "":
		return nil, fmt.Errorf("reading %s: %w", ref.Quoted(), cluster.ErrNoUID)
	case now.UID != ref.UID:
		return nil, ErrReplaced
	}
	return now, nil
}

// RemoveSteps remove those references of an object that are meant, from the last to the first, so that each step finds what it means where it was.
func RemoveSteps(now *graph.Object, meant func(graph.OwnerReference) bool) []cluster.PatchStep {
	var steps []cluster.PatchStep
	for i, r := range slices.Backward(now.Owners) {
		if meant(r) {
			path := fmt.Sprintf("/metadata/ownerReferences/%d", i)
			steps = append(steps, cluster.PatchStep{Op: "test", Path: path + "/uid", Value: r.UID}, cluster.PatchStep{Op: "remove", Path: path})
		}
	}
	return steps
}

// HasUID says whether an object has a reference with a uid.
func HasUID(o *graph.Object, uid string) bool {
	return slices.ContainsFunc(o.Owners, func(r graph.OwnerReference) bool { return r.UID == uid })
}
