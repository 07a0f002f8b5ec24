package core

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Others are the finalizers that are not the collector's own, nor that of a CustomResourceDefinition, whose instances are looked for one by one.
func Others(finalizers []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool {
		return f == plan.ForegroundFinalizer || f == plan.OrphanFinalizer || f == link.CRDFinalizer
	})
}

// Named names an object as a sentence does, with its namespace if it is in one.
func Named(o v1alpha1.ObjectRef) string { return graph.Ref(o).Located() }

// OfType looks at the objects of a type.
func OfType(resource schema.GroupResource) func(graph.Ref) bool {
	return func(ref graph.Ref) bool { return ref.Group() == resource.Group && ref.Resource == resource.Resource }
}

// RefTo identifies an object of a type by its name.
func RefTo(t graph.Type, namespace, name string) v1alpha1.ObjectRef {
	return v1alpha1.ObjectRef{APIVersion: t.APIVersion(), Kind: t.Kind, Resource: t.Resource, Namespace: namespace, Name: name}
}
