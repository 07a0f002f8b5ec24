package actor

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

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
		if needed, err := f.reader.GetObject(ctx, schema.GroupResource{Group: n.Type.Group, Resource: n.Type.Resource},
			n.Namespace, n.Name); err == nil && needed == nil {
			ref := graph.Ref{APIVersion: n.Type.APIVersion(), Kind: n.Type.Kind, Resource: n.Type.Resource,
				Namespace: n.Namespace, Name: n.Name}
			says = append(says, fmt.Sprintf("%s needs %s, which does not exist", a.Who, ref.Located()))
		}
	}
	return says
}
