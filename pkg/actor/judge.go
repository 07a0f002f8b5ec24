package actor

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// Judge is Of, and finds out what of the object itself keeps its actor from removing the finalizer.
// Whoever says anything about a finalizer of an object asks it, so that all say the same.
func (f *Finder) Judge(ctx context.Context, o *unstructured.Unstructured, name string) (Actor, error) {
	a, err := f.Of(ctx, o, name)
	if err != nil {
		return Actor{}, err
	}
	return f.State(ctx, o, a)
}

// State adds to an actor, which may have been found at another object, what of this object keeps it
// from removing the finalizer: what uses the object, and where that says that it is to be ignored;
// and whether it is to delete nothing.
func (f *Finder) State(ctx context.Context, o *unstructured.Unstructured, a Actor) (Actor, error) {
	if a.IsKnown {
		f.findUsers(ctx, o, &a)
		switch {
		case len(a.Known.UsedBy) == 0:
		case a.UsersUnread != nil:
			a.note("whether anything uses it is not known: " + a.UsersUnread.Error())
		case len(a.Users) == 0 && o.GetDeletionTimestamp() != nil:
			a.note("no " + phrase.Or(phrase.Words(a.Known.UsedBy, lookedFor)) + " uses it now")
		}
		if because, idles := a.Known.Idles(o.Object); idles {
			a.Idles = because
			a.note("it deletes nothing that the object stands for: " + because)
		}
	}
	a.Pauses = f.Paused(ctx, o, a)
	f.addUntaken(ctx, o, &a)
	if ctx.Err() != nil {
		return Actor{}, context.Cause(ctx)
	}
	return a, nil
}

// lookedFor names the objects among which users were looked for.
func lookedFor(u finalizer.Use) string {
	if u.Scope == finalizer.SameNamespace {
		return u.Kind + " in its namespace"
	}
	return u.Kind
}

// CanBeInUse reports whether the finalizer keeps an object while others use it.
func (a Actor) CanBeInUse() bool {
	own := []string{PVCFinalizer, VolumeFinalizer, SnapshotSourceFinalizer, RangeFinalizer}
	return len(a.Known.UsedBy) > 0 || slices.Contains(own, a.Finalizer)
}

// retired says that no version of today of an actor removes its finalizer; empty if one does.
func (a Actor) retired() string {
	if !a.IsKnown || a.Known.Retired == "" {
		return ""
	}
	return "it has not removed this finalizer since " + a.Known.Retired
}

// Ignores says why an actor that lives does not act on an object; nil if nothing says that.
func (a Actor) Ignores(o *unstructured.Unstructured) []v1alpha1.Observation {
	var all []v1alpha1.Observation
	if says := a.retired(); says != "" {
		all = append(all, v1alpha1.Observation{Says: says})
	}
	for _, p := range a.Pauses {
		if !p.Custom {
			all = append(all, p.Observation(o))
		}
	}
	for _, u := range a.Untaken {
		if !u.Guessed() {
			all = append(all, u.Evidence)
		}
	}
	for _, s := range a.NotWatching(o) {
		all = append(all, s.Observation())
	}
	for _, u := range a.Unled {
		all = append(all, u.Evidence)
	}
	return all
}

// Stopped says by what it is known that kube-controller-manager, which runs the garbage collector,
// does not run; nil if it runs, or if that is not known.
func (f *Finder) Stopped(ctx context.Context) ([]string, error) {
	a, err := f.Collector(ctx)
	if err != nil || a.Life != Dead {
		return nil, err
	}
	return a.Says(), nil
}

// Collector is who runs the garbage collector, by what is known of a finalizer that it removes.
func (f *Finder) Collector(ctx context.Context) (Actor, error) {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	return f.Of(ctx, o, foregroundFinalizer)
}

const foregroundFinalizer = "foregroundDeletion"

// Obstacle returns why an actor does not remove its finalizer from an object, as things are, and by
// what that is known, as clauses. It is empty if nothing is known to keep it from that. A pause of
// the object is not one: who plans a deletion reads these with the object.
func (f *Finder) Obstacle(ctx context.Context, o *unstructured.Unstructured, a Actor) (v1alpha1.Obstacle, []string) {
	switch {
	case a.Life == Dead && len(a.Workloads)+len(a.Scaled) > 0:
		return v1alpha1.NotRunning, a.Says()
	case a.NotFound():
		return v1alpha1.ActorNotFound, a.Says()
	case a.Life != Alive:
		return "", nil
	case a.retired() != "":
		return v1alpha1.NotWatching, []string{a.retired()}
	case len(a.Unled) > 0:
		return v1alpha1.NotLeading, phrase.Words(a.Unled, func(u Unled) string { return u.Evidence.Says })
	}
	a.Untaken = nil
	f.addUntaken(ctx, o, &a)
	a.Untaken = slices.DeleteFunc(a.Untaken, Untaken.Guessed)
	leaves := slices.Concat(phrase.Words(a.Untaken, func(u Untaken) string { return u.Evidence.Says }),
		phrase.Words(a.NotWatching(o), func(s Scope) string { return s.Observation().Says }))
	if len(leaves) > 0 {
		return v1alpha1.NotWatching, leaves
	}
	if may := f.Forbidden(ctx, o, a); may.Concluded {
		return v1alpha1.NotPermitted, phrase.Words(may.Evidence, func(e v1alpha1.Observation) string { return e.Says })
	}
	if missing := f.Missing(ctx, o, a); len(missing) > 0 {
		return v1alpha1.DependencyMissing, missing
	}
	return "", nil
}

// Missing names the objects that an actor needs to remove its finalizer from an object, and that do
// not exist, each as a clause. Of what cannot be read nothing is said.
func (f *Finder) Missing(ctx context.Context, o *unstructured.Unstructured, a Actor) (says []string) {
	for _, n := range f.Needed(ctx, o, a) {
		if n.Type.Namespaced && n.Namespace == "" {
			continue
		}
		if needed, err := f.reader.GetObject(ctx, n.Type.GroupResource(), n.Namespace, n.Name); err == nil && needed == nil {
			says = append(says, fmt.Sprintf("%s needs %s, which does not exist", a.Who,
				n.Type.Ref(n.Namespace, n.Name, "").Located()))
		}
	}
	return says
}
