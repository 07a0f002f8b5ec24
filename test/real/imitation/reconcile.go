package imitation

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reconcile adds the finalizer to an object or, if the object is being deleted, removes it.
func (p *Provider) reconcile(ctx context.Context, resource schema.GroupVersionResource,
	o *unstructured.Unstructured) error {
	finalizers := o.GetFinalizers()
	if slices.Contains(finalizers, Finalizer) != (o.GetDeletionTimestamp() != nil) {
		return nil
	}
	if o.GetDeletionTimestamp() == nil {
		finalizers = append(finalizers, Finalizer)
	} else {
		finalizers = slices.DeleteFunc(finalizers, func(f string) bool { return f == Finalizer })
	}
	o.SetFinalizers(finalizers)
	if _, err := p.client.Resource(resource).Namespace(o.GetNamespace()).Update(ctx, o,
		metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("updating the finalizers of %s/%s: %w", resource.Resource, o.GetName(), err)
	}
	return nil
}
