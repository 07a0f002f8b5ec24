package diagnose

import (
	"context"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// ofType looks at the objects of a type.
func ofType(resource schema.GroupResource) func(graph.Ref) bool {
	return func(ref graph.Ref) bool { return ref.Group() == resource.Group && ref.Resource == resource.Resource }
}

// absent says whether an object is proven not to exist: by a live read, or, for a namespaced kind without a namespace, by one of all namespaces.
func (e *core) absent(ctx context.Context, t graph.Type, ref v1alpha1.ObjectRef) bool {
	if t.Namespaced && ref.Namespace == "" {
		all, err := e.reader.ListObjects(ctx, schema.GroupResource{Group: t.Group, Resource: t.Resource}, "", cluster.Selection{Fields: fields.OneTermEqualSelector("metadata.name", ref.Name).String()})
		return err == nil && len(all) == 0
	}
	o, err := e.reader.GetObject(ctx, schema.GroupResource{Group: t.Group, Resource: t.Resource}, ref.Namespace, ref.Name)
	return err == nil && o == nil
}

// kindIn returns the type of a kind in a group, in the version that the server prefers. The type is not served, or not known to be, without one.
func (e *core) kindIn(group, kind string) (cluster.Resource, bool) {
	return e.reader.KindIn(group, kind)
}

// refTo identifies an object of a type by its name.
func refTo(t graph.Type, namespace, name string) v1alpha1.ObjectRef {
	return v1alpha1.ObjectRef{APIVersion: t.APIVersion(), Kind: t.Kind, Resource: t.Resource, Namespace: namespace, Name: name}
}
