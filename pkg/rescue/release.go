package rescue

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// errOutdated says that an archive lacks something: a dependent, or what has changed since.
var errOutdated = errors.New("the archive is not up to date")

// release removes the references to the object from all its dependents, each only when an archive
// has it, and frees the object when an archive has it as it is and a listing shows no dependent
// that refers to it. Both are looked at right before it is freed.
func (r *rescuer) release(ctx context.Context) error {
	for range change.Tries {
		if err := r.save(ctx); err != nil {
			return err
		}
		if err := r.each(ctx, r.orphan, func(d *Dependent) plan.Write {
			return plan.Write{Verb: plan.VerbOrphan, Object: d.Ref, Cause: r.p.Ref}
		}); err != nil {
			return err
		}
		if slices.ContainsFunc(r.p.Dependents, func(d *Dependent) bool { return !d.Recorded }) {
			continue
		}
		if err := r.free(ctx); !errors.Is(err, errOutdated) {
			return err
		}
	}
	return answer.Refuse(
		errors.New("the object was not freed: it, or its dependents, keep being changed; stop what changes them first"))
}

// before looks at the object and its dependents right before a write that frees it. The error is
// errOutdated, or one of listAgain.
func (r *rescuer) before(ctx context.Context, live *unstructured.Unstructured) error {
	grown, err := r.listAgain(ctx)
	if err != nil {
		return err
	}
	if r.p.changed = r.isOutdated(live); r.p.changed || grown {
		return errOutdated
	}
	return nil
}

// orphan removes the references from one dependent. One that is gone, or is being deleted, has
// nothing to lose.
func (r *rescuer) orphan(ctx context.Context, d *Dependent) result {
	if !d.Recorded {
		return result{}
	}
	steps := func(o *unstructured.Unstructured) ([]cluster.PatchStep, string) {
		exact := referencesTo(o, r.p.Ref.UID)
		if len(exact) == 0 {
			return nil, ""
		}
		if d.found(exact); !d.Recorded {
			return nil, "" // it is archived again before
		}
		return removal(o, r.p.Ref.UID), ""
	}
	got := r.patch(ctx, d, steps, func(answered *graph.Object) error {
		if change.HasOwner(answered, r.p.Ref.UID) {
			return r.q.Client.PutBackAtOnce(ctx, d.Type, "its reference to "+r.p.Ref.KindName())
		}
		return nil
	})
	if isEnd(got.err) {
		return result{}
	}
	return got
}

// patch changes the references of a dependent as it is read right before; without steps there is
// nothing to change, or it is skipped for a reason.
func (r *rescuer) patch(ctx context.Context, d *Dependent,
	steps func(*unstructured.Unstructured) ([]cluster.PatchStep, string), verify func(*graph.Object) error) (got result) {
	var o *unstructured.Unstructured
	got.err = change.Write{
		Read: func(ctx context.Context) (version string, err error) {
			if o, err = d.in(r.q.Client).ReadMetadata(ctx); err != nil {
				return "", err
			}
			return o.GetResourceVersion(), nil
		},
		Decide: func(context.Context) (func(context.Context) error, error) {
			if o.GetDeletionTimestamp() != nil {
				return nil, errDeleting
			}
			var todo []cluster.PatchStep
			if todo, got.skipped = steps(o); len(todo) == 0 {
				return nil, nil
			}
			return func(ctx context.Context) error {
				answered, err := d.in(r.q.Client).Send(ctx, o.GetResourceVersion(), todo, cluster.PatchOptions{})
				if err != nil {
					return err
				}
				got.wrote = true
				return verify(answered)
			}, nil
		},
	}.Do(ctx)
	return got
}

// listAgain lists the dependents that refer to the object now, and reports whether there are any
// that were not known. The error names a known one whose reference is there again: to remove it
// once more would be to fight whoever puts it back.
func (r *rescuer) listAgain(ctx context.Context) (grown bool, err error) {
	found, hiding, err := r.list(ctx)
	switch {
	case err != nil:
		return false, err
	case len(hiding) > 0:
		r.p.Gaps = hiding
		return false, answer.Refuse(
			errors.New("the object was not freed: types that may contain dependents could not be listed, and such dependents would be deleted"))
	}
	for _, d := range found {
		known := slices.ContainsFunc(r.p.Dependents, func(other *Dependent) bool { return other.Ref.UID == d.Ref.UID })
		if !known {
			continue
		}
		o, err := read(ctx, r.q.Client, d)
		switch {
		case isEnd(err):
		case err != nil:
			return false, err
		case len(referencesTo(o, r.p.Ref.UID)) > 0:
			back := r.q.Client.PutBack(ctx, d.Type, d.Ref, "its reference to "+r.p.Ref.KindName(),
				cluster.OwnerPath(r.p.Ref.UID), 1)
			return false, answer.Refuse(fmt.Errorf("the object was not freed: %s: %w", d.Ref.Quoted(), back))
		}
	}
	if !r.p.add(found) {
		return false, nil
	}
	if err := r.p.readLive(ctx, r.q.Client); err != nil {
		return false, err
	}
	return slices.ContainsFunc(r.p.Dependents, func(d *Dependent) bool { return !d.Recorded }), nil
}

// list lists the dependents that refer to the object, and what can hide some, with discovery that
// is asked again.
func (r *rescuer) list(ctx context.Context) ([]*Dependent, []v1alpha1.Gap, error) {
	listed, _, err := selection.ListAfresh(ctx, r.q.Client, cluster.ListOptions{Namespace: r.p.Ref.Namespace})
	if err != nil {
		return nil, nil, err
	}
	return dependentsOf(listed.Graph, r.p.Ref.UID), listed.Graph.Hiding(listed.Gaps, r.p.Ref), nil
}

// Reference is a reference of a dependent to the object, as it was before the rescue.
type Reference struct {
	metav1.OwnerReference
	// Index is its place in metadata.ownerReferences, from 0.
	Index int
}

// Dependent is an object with references to the one that is rescued.
type Dependent struct {
	Type       graph.Type
	Ref        graph.Ref
	References []Reference
	// Recorded says that an archive has the references.
	Recorded bool
	// Released says that the references were not there when it was read last: they were removed, by
	// this rescue or by the collector.
	Released bool
}

// found takes the references as they are, which no archive has if they have changed.
func (d *Dependent) found(exact []Reference) {
	d.Recorded = d.Recorded && reflect.DeepEqual(d.References, exact)
	d.References = exact
}

// blocks reports whether one of the references has blockOwnerDeletion, which can take a right of
// its own (API-037).
func (d *Dependent) blocks() bool {
	return slices.ContainsFunc(d.References,
		func(r Reference) bool { return graph.ReferenceOf(r.OwnerReference).Block })
}

// referencesTo are the references of an object to an owner, in their order.
func referencesTo(o *unstructured.Unstructured, uid string) []Reference {
	var all []Reference
	for i, r := range o.GetOwnerReferences() {
		if string(r.UID) == uid {
			all = append(all, Reference{r, i})
		}
	}
	return all
}

// dependentsOf are the dependents that a graph has of an owner. Their references are as far as the
// graph knows them.
func dependentsOf(g *graph.Graph, uid string) []*Dependent {
	owner, known := g.Lookup(uid)
	if !known {
		return nil
	}
	at := map[graph.ID]*Dependent{}
	var all []*Dependent
	for e := range g.Dependents(owner) {
		if !g.Observed(e.Dependent) {
			continue
		}
		d := at[e.Dependent]
		if d == nil {
			t, _ := g.Type(e.Dependent)
			d = &Dependent{Type: t, Ref: g.Ref(e.Dependent)}
			at[e.Dependent] = d
			all = append(all, d)
		}
		d.References = append(d.References, Reference{g.Reference(e).Meta(), g.Place(e)})
	}
	return all
}

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
		func(d *Dependent) plan.Write { return plan.Write{Verb: VerbAdopt, Object: d.Ref, Cause: r.p.Now} }))
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
	action := plan.Write{Verb: VerbUpdateStatus, Object: r.p.Now}
	given, err := change.Object{Server: r.q.Client, Type: r.p.Type, Ref: r.p.Now}.GiveStatus(ctx, state)
	switch {
	case err != nil:
		return r.failed(ctx, action, err, "the status of "+r.p.Now.Quoted()+" was not restored")
	case given:
		r.done(action)
	}
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
	}, func(d *Dependent) plan.Write { return plan.Write{Verb: VerbAdopt, Object: d.Ref, Cause: r.p.Now} })
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
