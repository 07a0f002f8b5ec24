package unfinalize

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// FinalizerRef is a finalizer on an object.
type FinalizerRef struct {
	Name  string
	Field finalizer.Field
}

// FinalizersOn returns the finalizers of an object in their order, those of a namespace's spec
// last.
func FinalizersOn(o *unstructured.Unstructured) []FinalizerRef {
	var all []FinalizerRef
	for _, name := range o.GetFinalizers() {
		all = append(all, FinalizerRef{name, finalizer.InMetadata})
	}
	for _, name := range specFinalizers(o) {
		all = append(all, FinalizerRef{name, finalizer.InSpec})
	}
	return all
}

// NamesOn are the names of an object's finalizers, each once.
func NamesOn(o *unstructured.Unstructured) []string {
	var names []string
	for _, h := range FinalizersOn(o) {
		if !slices.Contains(names, h.Name) {
			names = append(names, h.Name)
		}
	}
	return names
}

// named returns those of an object's finalizers that have one of the names.
func named(o *unstructured.Unstructured, names []string) []FinalizerRef {
	return slices.DeleteFunc(FinalizersOn(o), func(h FinalizerRef) bool { return !slices.Contains(names, h.Name) })
}

// specFinalizers are the second list, which only a namespace has (NS-001).
func specFinalizers(o *unstructured.Unstructured) []string {
	if !isNamespace(o) {
		return nil
	}
	list, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "finalizers")
	return list
}

func isNamespace(o *unstructured.Unstructured) bool {
	return o.GetAPIVersion() == "v1" && o.GetKind() == "Namespace"
}

func deleting(o *unstructured.Unstructured) bool { return o.GetDeletionTimestamp() != nil }

// grace is the grace period of an object that is pending, in seconds, 0 for none.
func grace(o *unstructured.Unstructured) int64 {
	if seconds := o.GetDeletionGracePeriodSeconds(); deleting(o) && seconds != nil {
		return *seconds
	}
	return 0
}

// halfDeleted says whether an object that is being deleted has nothing left that it could wait for:
// the next delete ends it (RO-063, NS-005).
func halfDeleted(o *unstructured.Unstructured) bool {
	return deleting(o) && len(FinalizersOn(o)) == 0 && grace(o) == 0
}

// RefOf identifies an object of a type.
func RefOf(t graph.Type, o *unstructured.Unstructured) graph.Ref {
	return graph.Ref{
		APIVersion: t.APIVersion(), Kind: t.Kind, Resource: t.Resource, Namespace: o.GetNamespace(), Name: o.GetName(),
		UID: string(o.GetUID()),
	}
}
