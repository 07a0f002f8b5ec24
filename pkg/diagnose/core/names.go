package core

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// Named names an object as a sentence does, with its namespace if it is in one.
func Named(o v1alpha1.ObjectRef) string { return o.Located() }

// OfType looks at the objects of a type.
func OfType(resource schema.GroupResource) func(graph.Ref) bool {
	return func(ref graph.Ref) bool { return ref.Group() == resource.Group && ref.Resource == resource.Resource }
}

// RefTo identifies an object of a type by its name.
func RefTo(t graph.Type, namespace, name string) v1alpha1.ObjectRef {
	return t.Ref(namespace, name, "")
}

// Absent reports whether an object is proven not to exist: by a live read, or, for a namespaced
// kind without a namespace, by one of all namespaces.
func (e *Examination) Absent(ctx context.Context, t graph.Type, ref v1alpha1.ObjectRef) bool {
	if t.Namespaced && ref.Namespace == "" {
		all, err := e.Reader.ListObjectMetas(ctx, schema.GroupResource{Group: t.Group, Resource: t.Resource}, "",
			cluster.Selection{Fields: fields.OneTermEqualSelector("metadata.name", ref.Name).String()})
		return err == nil && len(all) == 0
	}
	o, err := e.Reader.GetObject(ctx, schema.GroupResource{Group: t.Group, Resource: t.Resource}, ref.Namespace, ref.Name)
	return err == nil && o == nil
}

// KindIn returns the type of a kind in a group, in the version that the server prefers. The type is
// not served, or not known to be, without one.
func (e *Examination) KindIn(group, kind string) (cluster.Resource, bool) {
	return e.Reader.KindIn(group, kind)
}
