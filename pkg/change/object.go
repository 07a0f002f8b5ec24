package change

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Server is what a change needs of the API server; a cluster.Client is one.
type Server interface {
	GetMeta(ctx context.Context, t graph.Type, namespace, name string) (*graph.Object, error)
	GetObject(ctx context.Context, t graph.Type, namespace, name string) (*unstructured.Unstructured, error)
	GetObjectMeta(ctx context.Context, t graph.Type, namespace, name string) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, t graph.Type, namespace, name, uid string,
		opts cluster.DeleteOptions) (cluster.Deleted, error)
	Patch(ctx context.Context, t graph.Type, namespace, name string, steps []cluster.PatchStep,
		opts cluster.PatchOptions) (*graph.Object, error)
	UpdateStatus(ctx context.Context, t graph.Type, o *unstructured.Unstructured,
		opts cluster.WriteOptions) (*unstructured.Unstructured, error)
	PutBackAtOnce(ctx context.Context, t graph.Type, what string) *cluster.PutBackError
	PutBack(ctx context.Context, t graph.Type, object graph.Ref, what string, path []string,
		times int) *cluster.PutBackError
}

// Object is the object that is changed: the one that has the uid of Ref, and no other.
type Object struct {
	Server Server
	Type   graph.Type
	Ref    graph.Ref
}

// Read reads the metadata that the graph keeps. The error is ErrGone, ErrReplaced, or the server's.
func (o Object) Read(ctx context.Context) (*graph.Object, error) {
	now, err := o.Server.GetMeta(ctx, o.Type, o.Ref.Namespace, o.Ref.Name)
	if err != nil {
		return nil, o.unread(err)
	}
	return now, o.identify(now.UID)
}

// ReadMetadata reads all of the metadata, and nothing else. The errors are those of Read.
func (o Object) ReadMetadata(ctx context.Context) (*unstructured.Unstructured, error) {
	return o.whole(o.Server.GetObjectMeta(ctx, o.Type, o.Ref.Namespace, o.Ref.Name))
}

// ReadContent reads the whole object. The errors are those of Read.
func (o Object) ReadContent(ctx context.Context) (*unstructured.Unstructured, error) {
	return o.whole(o.Server.GetObject(ctx, o.Type, o.Ref.Namespace, o.Ref.Name))
}

func (o Object) whole(now *unstructured.Unstructured, err error) (*unstructured.Unstructured, error) {
	if err != nil {
		return nil, o.unread(err)
	}
	return now, o.identify(string(now.GetUID()))
}

// Reread reads the object after a write to it was refused. The error is ErrGone or ErrReplaced, or
// the refusal with what the read met.
func (o Object) Reread(ctx context.Context, refusal error) (*graph.Object, error) {
	now, err := o.Read(ctx)
	if err != nil {
		err = unread(ctx, refusal, err)
	}
	return now, err
}

// Delete sends one DELETE, which carries the uid. The error is the server's.
func (o Object) Delete(ctx context.Context, opts cluster.DeleteOptions) (cluster.Deleted, error) {
	return o.Server.Delete(ctx, o.Type, o.Ref.Namespace, o.Ref.Name, o.Ref.UID, opts)
}

// unread is the error of a read that failed.
func (o Object) unread(err error) error {
	if cluster.IsAbsent(err, o.Type, o.Ref.Name) {
		return ErrGone
	}
	return err
}

// identify returns why an object that was read is not the one that is meant. One without a uid may
// be it, or not.
func (o Object) identify(uid string) error {
	switch uid {
	case o.Ref.UID:
		return nil
	case "":
		return fmt.Errorf("reading %s: %w", o.Ref.Quoted(), cluster.ErrNoUID)
	}
	return ErrReplaced
}

// Why a write was not made, where it is not the server that says so.
var (
	// ErrGone is of an object that is proven not to exist.
	ErrGone = errors.New("it no longer exists")
	// ErrReplaced is of an object that was deleted and created again.
	ErrReplaced = errors.New("another object has its name now")
	// ErrMoved is of an object that was another version each time that it was written to.
	ErrMoved = fmt.Errorf("it was changed %d times meanwhile; try again", Tries)
	// ErrNotShown is of a write that the server has taken, and whose answer is not what was asked
	// for (API-033). What was removed and is there all the same is a cluster.PutBackError.
	ErrNotShown = errors.New("the server accepted the change, but the response lacks it: " +
		"a webhook or a policy that changes writes may have undone it")
)

// IsOver tells the errors of an object that is gone, or that another has replaced: nothing is to be
// done to it any more.
func IsOver(err error) bool { return errors.Is(err, ErrGone) || errors.Is(err, ErrReplaced) }

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
