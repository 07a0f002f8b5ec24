package core

import (
	"context"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Absent says whether an object is proven not to exist: by a live read, or, for a namespaced kind without a namespace, by one of all namespaces.
func (e *Examination) Absent(ctx context.Context, t graph.Type, ref v1alpha1.ObjectRef) bool {
	if t.Namespaced && ref.Namespace == "" {
		all, err := e.Reader.ListObjects(ctx, schema.GroupResource{Group: t.Group, Resource: t.Resource}, "", cluster.Selection{Fields: fields.OneTermEqualSelector("metadata.name", ref.Name).String()})
		return err == nil && len(all) == 0
	}
	o, err := e.Reader.GetObject(ctx, schema.GroupResource{Group: t.Group, Resource: t.Resource}, ref.Namespace, ref.Name)
	return err == nil && o == nil
}

// KindIn returns the type of a kind in a group, in the version that the server prefers. The type is not served, or not known to be, without one.
func (e *Examination) KindIn(group, kind string) (cluster.Resource, bool) {
	return e.Reader.KindIn(group, kind)
}
