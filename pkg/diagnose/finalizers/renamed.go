package finalizers

import (
	"context"
	"maps"
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

// outdated is the evidence that the version of a program that runs no longer removes a finalizer.
func (e *Examiner) outdated(ctx context.Context, o *unstructured.Unstructured, a actor.Actor) []v1alpha1.Observation {
	return append(e.renamed(ctx, o, a), e.dropped(ctx, o, a)...)
}

// renamed is the evidence that a finalizer may be that of another version of its program: no other
// custom resource of the type has it that is not being deleted, and all have another one of the same
// domain, or of one that it has moved to, and, as far as is known, of the same program, which the
// object does not have.
func (e *Examiner) renamed(ctx context.Context, o *unstructured.Unstructured, a actor.Actor) []v1alpha1.Observation {
	name := a.Finalizer
	own, seen := e.Graph.Lookup(string(o.GetUID()))
	if !seen || cluster.BuiltIn(o.GroupVersionKind().Group) {
		return nil
	}
	ref, others, with, instead, has := e.Graph.Ref(own), 0, 0, "", own
	if !e.Graph.Lists(ref.Group(), ref.Resource, ref.Namespace) { // one that was not seen may have it
		return nil
	}
	for id := range e.Graph.OfType(ref.Group(), ref.Resource, ref.Namespace) {
		if e.Graph.State(id) == graph.Deleting {
			continue
		}
		others++
		for _, other := range e.Graph.Finalizers(id) {
			switch {
			case other == name:
				return nil
			case cluster.Domain(other) != cluster.Domain(name) && !hasMoved(name, other), e.ofAnother(name, other, ref):
			case instead == "" || instead == other:
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

// dropped is the evidence that a program puts a finalizer on objects no more, as kube-image-keeper
// on pods (https://github.com/enix/kube-image-keeper/issues/183): others of the type that are not
// older and have a label or an annotation of its domain, as the object has, are without it, and
// none has it. Of custom resources those count of which their controller has written the status: as long
// as it is down, new ones are without it. One may be an exception, two are not
// (https://github.com/tektoncd/triggers/issues/1243).
func (e *Examiner) dropped(ctx context.Context, o *unstructured.Unstructured, a actor.Actor) []v1alpha1.Observation {
	marks := marksOf(o, a.Finalizer)
	r, served := e.Catalog.Kind(o.GetAPIVersion(), o.GetKind())
	of := r.GroupResource()
	builtIn := cluster.BuiltIn(o.GroupVersionKind().Group)
	if a.IsKnown || len(marks) == 0 && builtIn || !served || e.Many ||
		!e.Graph.Lists(of.Group, of.Resource, o.GetNamespace()) ||
		counted(e.Graph, o.GetNamespace())[of] > longestNaming {
		return nil
	}
	if !builtIn {
		marks = []string{"a status"}
	}
	without, mark := 0, ""
	for _, other := range e.List(ctx, r, o.GetNamespace()) {
		if other.GetUID() == o.GetUID() || other.GetDeletionTimestamp() != nil {
			continue
		}
		if slices.Contains(other.GetFinalizers(), a.Finalizer) {
			return nil
		}
		theirs := marksOf(other, a.Finalizer)
		if told, _, _ := unstructured.NestedMap(other.Object, "status"); !builtIn && len(told) > 0 {
			theirs = marks
		}
		i := slices.IndexFunc(marks, func(m string) bool { return slices.Contains(theirs, m) })
		if i >= 0 && !other.GetCreationTimestamp().Time.Before(o.GetCreationTimestamp().Time) {
			without, mark = without+1, marks[i]
		}
	}
	if without == 0 || !builtIn && without == 1 {
		return nil
	}
	return core.Seen("%s with %s, not older, %s not have it, and no other %s beside it has: the version of its program that runs may "+
		"neither put it there nor remove it", phrase.Count(without, "other "+o.GetKind()), mark,
		phrase.Plural(without, "does", "do"), o.GetKind())
}

// marksOf are the keys of labels and annotations of an object whose domain is that of a finalizer, or
// one above or below it. Those of Kubernetes do not count.
func marksOf(o *unstructured.Unstructured, finalizer string) (marks []string) {
	of, _, slashed := strings.Cut(finalizer, "/")
	if !slashed {
		return nil
	}
	keys := slices.Concat(slices.Sorted(maps.Keys(o.GetLabels())), slices.Sorted(maps.Keys(o.GetAnnotations())))
	for _, key := range keys {
		at, _, has := strings.Cut(key, "/")
		same := at == of || strings.HasSuffix(of, "."+at) || strings.HasSuffix(at, "."+of)
		ofKubernetes := strings.HasSuffix(at, "kubernetes.io") || strings.HasSuffix(at, "k8s.io")
		if has && same && strings.Contains(at, ".") && !ofKubernetes {
			marks = append(marks, key)
		}
	}
	return marks
}

// ofAnother reports whether two finalizers are known to be those of two programs, as Tekton Chains
// and Tekton Results are.
func (e *Examiner) ofAnother(name, other string, on graph.Ref) bool {
	one, isKnown := e.Registry.Lookup(name, on.Group(), on.Kind)
	two, alsoKnown := e.Registry.Lookup(other, on.Group(), on.Kind)
	return isKnown && alsoKnown && one.Component != two.Component
}

// byAnother reports whether another program is named for the finalizer of another object than for
// that of an actor, where no pack knows them.
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

// hasMoved reports whether two finalizers differ in their domain only, which begins alike: those of
// Metacontroller before and after it went to another one
// (https://github.com/metacontroller/metacontroller/issues/252).
func hasMoved(name, other string) bool {
	of, rest, slashed := strings.Cut(name, "/")
	otherOf, otherRest, _ := strings.Cut(other, "/")
	first, _, _ := strings.Cut(of, ".")
	return slashed && rest == otherRest && of != otherOf && strings.HasPrefix(otherOf, first+".")
}
