package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// CreateObject creates an object; a Service whose addresses or ports another one has by now gets
// others, which a note says. The error is the server's.
func CreateObject(ctx context.Context, client *cluster.Client, t graph.Type, namespace string,
	o *unstructured.Unstructured, opts cluster.WriteOptions) (written *unstructured.Unstructured, notes []string,
	err error) {
	written, err = client.Create(ctx, t, namespace, o, opts)
	if !isAllocated(err) {
		return written, nil, err
	}
	dropAllocations(o)
	written, err = client.Create(ctx, t, namespace, o, opts)
	return written, []string{"with another address or port: the archived one is taken"}, err
}

// create creates an object. What is in its place by now counts as created if it is a copy of it: an
// answer can be lost on its way.
func (r *performer) create(ctx context.Context, s *Step, o *unstructured.Unstructured) (*unstructured.Unstructured,
	[]string, error) {
	written, notes, err := CreateObject(ctx, r.client, s.Type, s.Object.Namespace, o, cluster.WriteOptions{})
	if err == nil {
		return written, notes, nil
	}
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
		return nil, nil, err
	}
	there, readErr := r.client.GetObject(ctx, s.Type, s.Object.Namespace, s.Object.Name)
	if readErr != nil {
		return nil, nil, err
	}
	now := liveOf(there)
	switch {
	case now.deleting:
	case IsCopy(o, there) && OwnedAlike(o, there):
		return there, nil, nil
	case s.maker != "" && r.isMadeFor(ctx, s.item, now):
		r.of[s.item].other = !isAlike(o, there)
		return there, []string{s.maker + " has made it meanwhile"}, nil
	case r.madeWithNamespace(s.item):
		written, err := r.applyOver(ctx, s, o, now.uid)
		return written, []string{"over the one that a controller has made in the new namespace"}, err
	}
	if apierrors.IsAlreadyExists(err) {
		return nil, nil, fmt.Errorf("another object has its name by now; --overwrite applies the archived one over it")
	}
	return nil, nil, err
}

// isMadeFor reports whether a live object belongs to the owners that were restored: what has a
// controller is managed by the restored one.
func (r *performer) isMadeFor(ctx context.Context, it *item, now live) bool {
	c := it.controller()
	return c == nil || now.controlledBy(r.uidOf(ctx, r.plan.itemOf(string(c.UID))))
}

// madeWithNamespace reports whether a controller makes an object in each new namespace, and its
// namespace is created by this restore.
func (r *performer) madeWithNamespace(it *item) bool {
	ns := r.plan.index.namespaceOfAccount(it)
	return ns != nil && r.of[ns] != nil
}

// apply applies an object over the live one that the plan has seen, and no other.
func (r *performer) apply(ctx context.Context, s *Step, o *unstructured.Unstructured) (*unstructured.Unstructured,
	[]string, error) {
	written, err := r.applyOver(ctx, s, o, s.Object.UID)
	return written, nil, err
}

// applyOver applies an object over the one that has the uid.
func (r *performer) applyOver(ctx context.Context, s *Step, o *unstructured.Unstructured,
	uid string) (*unstructured.Unstructured, error) {
	over := o.DeepCopy()
	over.SetUID(types.UID(uid))
	return r.client.Apply(ctx, s.Type, over, cluster.WriteOptions{DryRun: r.opts.DryRun})
}

// ask sends an object with dryRun=All, if what it needs is there.
func (r *performer) ask(ctx context.Context, s *Step, o *unstructured.Unstructured) outcome {
	var err error
	switch {
	case !r.canAsk(s):
		return outcome{unasked: true}
	case s.Verb == Apply:
		_, _, err = r.apply(ctx, s, o)
	default:
		_, _, err = CreateObject(ctx, r.client, s.Type, s.Object.Namespace, o, cluster.WriteOptions{DryRun: true})
	}
	if err != nil {
		return s.failed(err)
	}
	return s.done("")
}

// canAsk reports whether the namespace and the type of an object are there before anything is
// restored.
func (r *performer) canAsk(s *Step) bool {
	needed := (&survey{index: r.plan.index}).needs(s.item)
	return !slices.ContainsFunc(needed, func(it *item) bool { return r.of[it] != nil })
}

// setStatus writes the archived status of an object that was restored before, if it still has none.
func (r *performer) setStatus(ctx context.Context, s *Step, archived *unstructured.Unstructured) outcome {
	if r.opts.DryRun {
		return outcome{unasked: true}
	}
	given, err := r.object(s, s.Object.UID).GiveStatus(ctx, archived.Object["status"])
	switch {
	case err != nil:
		return s.failed(err)
	case !given:
		return s.done(s.Object.UID, "it has a status by now")
	}
	return s.done(s.Object.UID)
}

// object is the live object of a step.
func (r *performer) object(s *Step, uid string) change.Object {
	o := change.Object{Server: r.client, Type: s.Type, Ref: s.Object}
	o.Ref.UID = uid
	return o
}

// rebind gives a volume that was bound to the archived claim the uid of the new one. The controller
// of volumes binds them then.
func (r *performer) rebind(ctx context.Context, s *Step) outcome {
	if r.opts.DryRun {
		return outcome{unasked: true}
	}
	at := target{r.plan.types[s.claim.number], s.claim.ref.Namespace, s.claim.ref.Name}
	found, err := look(ctx, r.client, []target{at})
	claim, uid := found[at], s.claimUID
	if uid == "" {
		uid = r.uidOf(ctx, s.claim)
	}
	if err != nil || claim.err != nil || uid == "" || claim.uid != uid {
		return s.failed(fmt.Errorf("claim %s was not restored", s.claim.ref.Name))
	}
	if err := RebindVolume(ctx, r.client, s.Type, s.Object, s.claim.ref.UID, claim.uid); err != nil {
		return s.failed(err)
	}
	return s.done(s.Object.UID)
}

// differences say what a server, or a webhook, has made of the owners and finalizers of an object.
func differences(sent, written *unstructured.Unstructured) []string {
	var notes []string
	got := liveOf(written)
	for _, ref := range sent.GetOwnerReferences() {
		if !got.refersTo(string(ref.UID)) {
			notes = append(notes, "the server has stored it without its reference to "+ownerName(ref))
		}
	}
	for _, f := range sent.GetFinalizers() {
		if !slices.Contains(written.GetFinalizers(), f) {
			notes = append(notes, "the server has stored it without its finalizer "+f)
		}
	}
	return notes
}

// isAllocated reports whether an error is about an address or a port that another Service has by
// now.
func isAllocated(err error) bool {
	if !apierrors.IsInvalid(err) {
		return false
	}
	text := err.Error()
	return strings.Contains(text, "already allocated") || strings.Contains(text, "not in the valid range")
}
