package core

import (
	"context"
	"iter"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Others are the finalizers that are not the collector's own, nor that of a
// CustomResourceDefinition, whose instances are looked for one by one.
func Others(finalizers []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool {
		return f == metav1.FinalizerDeleteDependents || f == metav1.FinalizerOrphanDependents || f == link.CRDFinalizer
	})
}

// OfType looks at the objects of a type.
func OfType(resource schema.GroupResource) func(graph.Ref) bool {
	return func(ref graph.Ref) bool { return ref.Group() == resource.Group && ref.Resource == resource.Resource }
}

// RefTo identifies an object of a type by its name, in a namespace if the type has any.
func RefTo(t graph.Type, namespace, name string) v1alpha1.ObjectRef {
	return t.Ref(t.Place(namespace), name, "")
}

// Absent reports whether an object is proven not to exist: by a live read, or, for a namespaced
// kind without a namespace, by one of all namespaces.
func (e *Examination) Absent(ctx context.Context, t graph.Type, ref v1alpha1.ObjectRef) bool {
	if t.Namespaced && ref.Namespace == "" {
		all, err := e.Reader.ListObjectMetas(ctx, t.GroupResource(), "",
			cluster.Selection{Fields: fields.OneTermEqualSelector("metadata.name", ref.Name).String()})
		return err == nil && len(all) == 0
	}
	o, err := e.Reader.GetObject(ctx, t.GroupResource(), ref.Namespace, ref.Name)
	return err == nil && o == nil
}

// List returns the objects of a type in a namespace, or in all if that is empty; none if they cannot
// be listed, which the reader has noted as a gap.
func (e *Examination) List(ctx context.Context, t graph.Type, namespace string) []*unstructured.Unstructured {
	all, err := e.Reader.ListObjects(ctx, t.GroupResource(), t.Place(namespace), cluster.Selection{})
	if err != nil {
		return nil
	}
	return all
}

// Dependents are what the references of listed objects to an object make its dependents.
func (e *Examination) Dependents(o *unstructured.Unstructured) iter.Seq[graph.ID] {
	return func(yield func(graph.ID) bool) {
		id, listed := e.Graph.Lookup(string(o.GetUID()))
		if !listed {
			return
		}
		for edge := range e.Graph.Dependents(id) {
			if !yield(edge.Dependent) {
				return
			}
		}
	}
}
