package finalizers

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// renamed is the evidence that a finalizer may be that of another version of its program: no other
// custom resource of the type has it that is not being deleted, and all have another one of the same
// domain and, as far as is known, of the same program, which the object does not have.
func (e *Examiner) renamed(o *unstructured.Unstructured, name string) []v1alpha1.Observation {
	own, seen := e.Graph.Lookup(string(o.GetUID()))
	if !seen || cluster.BuiltIn(o.GroupVersionKind().Group) {
		return nil
	}
	ref, others, with, instead := e.Graph.Ref(own), 0, 0, ""
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
				instead = other
				with++
			}
		}
	}
	if with == 0 || with < others || slices.Contains(o.GetFinalizers(), instead) {
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

// domain are the last two labels of the domain of a finalizer.
func domain(name string) string {
	of, _, _ := strings.Cut(name, "/")
	labels := strings.Split(of, ".")
	return strings.Join(labels[max(0, len(labels)-2):], ".")
}
