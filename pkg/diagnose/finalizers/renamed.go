package finalizers

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// renamed is the evidence that a finalizer may be that of another version of its program: no other
// custom resource of the type has it that is not being deleted, and all have another one of the same
// domain and, as far as is known, of the same program, which the object does not have.
func (e *Examiner) renamed(ctx context.Context, o *unstructured.Unstructured, a actor.Actor) []v1alpha1.Observation {
	name := a.Finalizer
	own, seen := e.Graph.Lookup(string(o.GetUID()))
	if !seen || cluster.BuiltIn(o.GroupVersionKind().Group) {
		return nil
	}
	ref, others, with, instead, has := e.Graph.Ref(own), 0, 0, "", own
	for id := range e.Graph.OfType(ref.Group(), ref.Resource, ref.Namespace) {
		if e.Graph.State(id) == graph.Deleting {
			continue
		}
		others++
		for _, other := range e.Graph.Finalizers(id) {
			switch {
			case other == name:
				return nil
			case domain(other) == domain(name) && !e.ofAnother(name, other, ref) && (instead == "" || instead == other):
				instead, has = other, id
				with++
			}
		}
	}
	if with == 0 || with < others || slices.Contains(o.GetFinalizers(), instead) || e.byAnother(ctx, a, has, instead) {
		return nil
	}
	return core.Seen("no other %s has it, and %s %s %s: another version of its program may have put it there", ref.Kind,
		phrase.Count(with, "other"), phrase.Plural(with, "has", "have"), instead)
}

// ofAnother says whether two finalizers are known to be those of two programs, as Tekton Chains and
// Tekton Results are.
func (e *Examiner) ofAnother(name, other string, on graph.Ref) bool {
	one, isKnown := e.Registry.Lookup(name, on.Group(), on.Kind)
	two, alsoKnown := e.Registry.Lookup(other, on.Group(), on.Kind)
	return isKnown && alsoKnown && one.Component != two.Component
}

// byAnother says whether another program is named for the finalizer of another object than for that of
// an actor, where no pack knows them.
func (e *Examiner) byAnother(ctx context.Context, a actor.Actor, has graph.ID, instead string) bool {
	if a.IsKnown || a.Who == "" {
		return false
	}
	ref := e.Graph.Ref(has)
	if known, isKnown := e.Registry.Lookup(instead, ref.Group(), ref.Kind); isKnown && !known.Fallback {
		return false
	}
	o := e.Own(ctx, has)
	if o == nil {
		return false
	}
	by := actor.WrittenBy(o, instead)
	return by != "" && by != a.Who
}

// domain are the last two labels of the domain of a finalizer.
func domain(name string) string {
	of, _, _ := strings.Cut(name, "/")
	labels := strings.Split(of, ".")
	return strings.Join(labels[max(0, len(labels)-2):], ".")
}
