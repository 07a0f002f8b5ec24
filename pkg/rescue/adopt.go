package rescue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
)

// adopt gives the dependents their references back, with the new uid. Dependents that came up when
// the object was free already refer to the old one: their references are changed.
func (r *rescuer) adopt(ctx context.Context) error {
	found, _, err := r.list(ctx)
	if err != nil {
		return err
	}
	r.p.add(found)
	unset := r.giveStatus(ctx)
	return errors.Join(unset, r.each(ctx, r.giveBack,
		func(d *Dependent) Action { return Action{Verb: VerbAdopt, Object: d.Ref, Cause: r.p.Now} }))
}

// giveBack gives one dependent its references back.
func (r *rescuer) giveBack(ctx context.Context, d *Dependent) result {
	got := r.patch(ctx, d, func(o *unstructured.Unstructured) ([]cluster.PatchStep, string) {
		return adoption(o, d.References, r.p.Ref.UID, r.p.Now.UID)
	}, func(answered *graph.Object) error {
		if !change.HasOwner(answered, r.p.Now.UID) {
			return change.ErrNotShown
		}
		return nil
	})
	if isEnd(got.err) {
		return result{skipped: got.err.Error()}
	}
	return got
}

// giveStatus gives a custom resource the status that it had, unless it has one already: it can name
// what is outside the cluster.
func (r *rescuer) giveStatus(ctx context.Context) error {
	state, has := r.p.record.Object.Object["status"]
	if !has || cluster.BuiltIn(r.p.Type.Group) {
		return nil
	}
	live, err := r.q.Client.GetObject(ctx, r.p.Type, r.p.Ref.Namespace, r.p.Ref.Name)
	if err != nil {
		return err
	}
	if _, has := live.Object["status"]; has || string(live.GetUID()) != r.p.Now.UID {
		return nil
	}
	live.Object["status"] = state
	action := Action{Verb: VerbUpdateStatus, Object: r.p.Now}
	if _, err := r.q.Client.UpdateStatus(ctx, r.p.Type, live, cluster.WriteOptions{}); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.out.Add(printed(action), err)
		return fmt.Errorf("the status of %s was not restored: %w", r.p.Now.Quoted(), err)
	}
	r.done(action)
	return nil
}

// verify reads all dependents once more.
func (r *rescuer) verify(ctx context.Context) error {
	skipped := map[string]bool{}
	for _, s := range r.out.Skipped {
		skipped[s.Object.UID] = true
	}
	return r.each(ctx, func(ctx context.Context, d *Dependent) result {
		o, err := read(ctx, r.q.Client, d)
		switch {
		case skipped[d.Ref.UID]:
			return result{}
		case isEnd(err):
			return result{skipped: err.Error()}
		case err != nil:
			return result{err: err}
		case len(referencesTo(o, r.p.Now.UID)) == 0:
			return result{err: fmt.Errorf("its reference to %s was removed again", r.p.Now.KindName())}
		}
		return result{}
	}, func(d *Dependent) Action { return Action{Verb: VerbAdopt, Object: d.Ref, Cause: r.p.Now} })
}

// removal removes the references of an object to an owner, the last first, each after a test that
// it is there; none if it has none.
func removal(o *unstructured.Unstructured, uid string) []cluster.PatchStep {
	var steps []cluster.PatchStep
	for _, r := range slices.Backward(referencesTo(o, uid)) {
		steps = append(steps, change.RemoveReference(r.Index, uid)...)
	}
	return steps
}

// adoption gives an object references to a new owner, as it had them to the old one: at their place
// in the list, with their flags. References to the old owner that are still there are changed.
// There are no steps if it has a reference to the new owner, or if it must not get one; why says
// which controller it has then.
func adoption(o *unstructured.Unstructured, references []Reference, old, now string) (steps []cluster.PatchStep,
	why string) {
	list := o.GetOwnerReferences()
	if len(referencesTo(o, now)) > 0 {
		return nil, ""
	}
	for _, r := range referencesTo(o, old) {
		steps = append(steps, change.SetInReference(r.Index, old, "uid", now)...)
	}
	if len(steps) > 0 {
		return steps, ""
	}
	for _, r := range references {
		if restore.IsController(r.OwnerReference) {
			if i := slices.IndexFunc(list, restore.IsController); i >= 0 {
				return nil, fmt.Sprintf("it has another controller by now: %s/%s", list[i].Kind, list[i].Name)
			}
		}
		r.UID = types.UID(now)
		place := min(r.Index, len(list))
		steps = append(steps, change.AddReference(place, len(list), r.OwnerReference))
		list = slices.Insert(list, place, r.OwnerReference)
	}
	return steps, ""
}
