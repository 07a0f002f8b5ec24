package rescue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// errOutdated says that an archive lacks something: a dependent, or what has changed since.
var errOutdated = errors.New("the archive is not up to date")

// release removes the references to the object from all its dependents, each only when an archive has
// it, and frees the object when an archive has it as it is and a listing shows no dependent that
// refers to it. Both are looked at right before it is freed.
func (r *rescuer) release(ctx context.Context) error {
	for range maxTries {
		if err := r.save(ctx); err != nil {
			return err
		}
		if err := r.each(ctx, r.orphan, func(d *Dependent) Action { return Action{Verb: plan.VerbOrphan, Object: d.Ref, Owner: r.p.Ref} }); err != nil {
			return err
		}
		if slices.ContainsFunc(r.p.Dependents, func(d *Dependent) bool { return !d.Recorded }) {
			continue
		}
		if err := r.free(ctx); !errors.Is(err, errOutdated) {
			return err
		}
	}
	return answer.Refuse(errors.New("the object was not freed: it, or its dependents, keep being changed; stop what changes them first"))
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

// orphan removes the references from one dependent. One that is gone, or is being deleted, has nothing to lose.
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
	got := r.patch(ctx, d, steps, func(now *graph.Object) bool { return !refers(now, r.p.Ref.UID) })
	if isEnd(got.err) {
		return result{}
	}
	return got
}

// refers says whether an object has a reference to an owner.
func refers(o *graph.Object, uid string) bool {
	return slices.ContainsFunc(o.Owners, func(r graph.OwnerReference) bool { return r.UID == uid })
}

// patch changes the references of a dependent as it is read right before; without steps there is nothing to change, or it is skipped for a reason. Whether it is changed
// says done by the server's answer, which something that changes writes on their way may have changed (API-033).
func (r *rescuer) patch(ctx context.Context, d *Dependent, steps func(*unstructured.Unstructured) ([]cluster.PatchStep, string), done func(*graph.Object) bool) result {
	var refused error
	last := ""
	for range maxTries {
		o, err := read(ctx, r.q.Client, d)
		if err != nil {
			return result{err: err}
		}
		todo, why := steps(o)
		if len(todo) == 0 {
			return result{skipped: why}
		}
		if o.GetResourceVersion() == last {
			return result{err: refused} // the server's last word on what has not changed
		}
		answered, err := r.q.Client.Patch(ctx, d.Type, d.Ref.Namespace, d.Ref.Name, todo, cluster.PatchOptions{})
		switch {
		case err == nil && !done(answered):
			return result{err: r.q.Client.PutBackAtOnce(ctx, d.Type, "its reference to "+r.p.Ref.KindName())}
		case err == nil:
			return result{wrote: true}
		case !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) && !apierrors.IsNotFound(err):
			return result{err: err}
		}
		refused, last = err, o.GetResourceVersion()
	}
	return result{err: ErrMoved}
}

// listAgain lists the dependents that refer to the object now, and says whether there are any that were not known. The error names a known one whose reference is there
// again: to remove it once more would be to fight whoever puts it back.
func (r *rescuer) listAgain(ctx context.Context) (grown bool, err error) {
	found, hiding, err := r.list(ctx)
	switch {
	case err != nil:
		return false, err
	case len(hiding) > 0:
		r.p.Gaps = hiding
		return false, answer.Refuse(errors.New("the object was not freed: types that may contain dependents could not be listed, and such dependents would be deleted"))
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
			back := r.q.Client.PutBack(ctx, d.Type, d.Ref, "its reference to "+r.p.Ref.KindName(), cluster.OwnerPath(r.p.Ref.UID), 1)
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

// list lists the dependents that refer to the object, and what can hide some, with discovery that is asked again.
func (r *rescuer) list(ctx context.Context) ([]*Dependent, []v1alpha1.Gap, error) {
	client := r.q.Client.WithFreshDiscovery()
	catalog, err := client.Discover(ctx)
	if err != nil {
		return nil, nil, err
	}
	listed, err := selection.List(ctx, client, catalog, cluster.ListOptions{Namespace: r.p.Ref.Namespace})
	if err != nil {
		return nil, nil, err
	}
	return dependentsOf(listed.Graph, r.p.Ref.UID), plan.Hiding(listed.Graph, listed.Gaps, r.p.Ref), nil
}
