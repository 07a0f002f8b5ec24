package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// references gives references the uids that their owners have now. In a dry run those of owners
// that are not there are left out.
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

// writeReferences adds the references that objects get after they are there, and gives volumes the
// new uids of their claims.
func (r *performer) writeReferences(ctx context.Context) {
	cluster.Each(r.client, r.plan.Steps, func(i int, _ Step) {
		switch s := &r.plan.Steps[i]; {
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
	o := change.Object{Server: r.client, Type: s.Type, Ref: s.Object}
	o.Ref.UID = uid
	_, err = o.Patch(ctx, change.Patch{
		Decide: func(now *graph.Object) ([]cluster.PatchStep, error) {
			if now.DeletionTimestamp != 0 {
				return nil, errors.New("it is being deleted")
			}
			return additions(now, planned, references), nil
		},
		Verify: func(answered *graph.Object) error {
			for _, ref := range references {
				if !change.HasOwner(answered, string(ref.UID)) {
					return fmt.Errorf("the reference to %s: %w", ownerName(ref), change.ErrNotShown)
				}
			}
			return nil
		},
	})
	if err != nil {
		return outcome{err: err}
	}
	return outcome{done: &Done{Step: s, UID: uid}}
}

// additions are the steps that give an object references: in place of those to the archived owners,
// or after the others.
func additions(now *graph.Object, planned []Reference, references []metav1.OwnerReference) []cluster.PatchStep {
	var steps []cluster.PatchStep
	n := len(now.Owners)
	for i, ref := range references {
		old := string(planned[i].UID)
		at := slices.IndexFunc(now.Owners, func(r graph.OwnerReference) bool { return r.UID == old })
		switch {
		case change.HasOwner(now, string(ref.UID)):
		case at >= 0:
			steps = append(steps, change.ReplaceReference(at, old, ref)...)
		default:
			steps = append(steps, change.AddReference(n, n, ref))
			n++
		}
	}
	return steps
}
