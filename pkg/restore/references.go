package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// references gives references the uids that their owners have now. In a dry run those of owners that are not there are left out.
func (r *performer) references(ctx context.Context, planned []Reference) ([]metav1.OwnerReference, error) {
	var all []metav1.OwnerReference
	for _, ref := range planned {
		uid := ref.NewUID
		if uid == "" {
			if r.opts.DryRun {
				continue
			}
			if uid = r.uidOf(ctx, r.plan.itemOf(string(ref.UID))); uid == "" {
				return nil, fmt.Errorf("%w: %s", ErrOwnerFailed, ownerName(ref.OwnerReference))
			}
		}
		out := ref.OwnerReference
		out.UID = types.UID(uid)
		all = append(all, out)
	}
	return all, nil
}

// setReferences sets the references of an object that is to be written.
func setReferences(o *unstructured.Unstructured, references []metav1.OwnerReference) {
	if len(references) > 0 {
		o.SetOwnerReferences(references)
	}
}

// relabel gives labels that have the archived uid of an owner its new one, as a Job finds its pods.
func relabel(o *unstructured.Unstructured, planned []Reference, references []metav1.OwnerReference) {
	if len(planned) != len(references) {
		return // a dry run, in which not all uids are known
	}
	labels := o.GetLabels()
	for key, value := range labels {
		for i := range planned {
			if value == string(planned[i].UID) {
				labels[key] = string(references[i].UID)
			}
		}
	}
	if len(labels) > 0 {
		o.SetLabels(labels)
	}
}

// writeReferences adds the references that objects get after they are there, and gives volumes the new uids of their claims.
func (r *performer) writeReferences(ctx context.Context) {
	r.each(func(i int, s *Step) {
		switch {
		case s.Verb == Refer:
			r.note(i, r.refer(ctx, s, s.Object.UID, s.References))
		case s.Verb == Rebind:
			r.note(i, r.rebind(ctx, s))
		case len(s.Late) > 0 && r.results[i].done != nil && !r.opts.DryRun:
			late := r.refer(ctx, s, r.results[i].done.UID, s.Late)
			if late.err != nil {
				r.note(i, late)
			}
		}
	})
}

// refer adds references to an object that has the uid.
func (r *performer) refer(ctx context.Context, s *Step, uid string, planned []Reference) outcome {
	if r.opts.DryRun {
		return outcome{unasked: true}
	}
	references, err := r.references(ctx, planned)
	if err != nil {
		return outcome{err: err}
	}
	for tries := 0; ; tries++ {
		now := lookAt(ctx, r.client, target{s.Type, s.Object.Namespace, s.Object.Name})
		switch {
		case now.err != nil:
			return outcome{err: now.err}
		case now.uid != uid:
			return outcome{err: errors.New("it is gone, or another object has its name")}
		case now.deleting:
			return outcome{err: errors.New("it is being deleted")}
		}
		steps := additions(now, planned, references)
		if len(steps) == 0 {
			return outcome{done: &Done{Step: s, UID: uid}}
		}
		answer, err := r.client.Patch(ctx, s.Type, s.Object.Namespace, s.Object.Name, append(cluster.Unchanged(uid, now.resourceVersion), steps...), cluster.PatchOptions{})
		if err != nil {
			if cluster.IsStale(err) && tries < maxTries {
				continue // it was changed since it was read
			}
			return outcome{err: err}
		}
		for _, ref := range references {
			if !has(answer, string(ref.UID)) {
				return outcome{err: fmt.Errorf("the server has taken the reference to %s and does not show it; a webhook may have undone it", ownerName(ref))}
			}
		}
		return outcome{done: &Done{Step: s, UID: uid}}
	}
}

// additions are the steps that give a live object references: in place of those to the archived owners, or after the others.
func additions(now live, planned []Reference, references []metav1.OwnerReference) []cluster.PatchStep {
	var steps []cluster.PatchStep
	var missing []metav1.OwnerReference
	for i, ref := range references {
		at := slices.IndexFunc(now.owners, func(r metav1.OwnerReference) bool { return r.UID == planned[i].UID })
		switch {
		case now.refersTo(string(ref.UID)):
		case at >= 0:
			path := fmt.Sprintf("/metadata/ownerReferences/%d", at)
			steps = append(steps, cluster.PatchStep{Op: "test", Path: path + "/uid", Value: string(planned[i].UID)}, cluster.PatchStep{Op: "replace", Path: path, Value: ref})
		default:
			missing = append(missing, ref)
		}
	}
	if len(missing) > 0 && len(now.owners) == 0 {
		return append(steps, cluster.PatchStep{Op: "add", Path: "/metadata/ownerReferences", Value: missing})
	}
	for _, ref := range missing {
		steps = append(steps, cluster.PatchStep{Op: "add", Path: "/metadata/ownerReferences/-", Value: ref})
	}
	return steps
}
