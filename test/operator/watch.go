package operator

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// watch calls seen with each object of a type that comes, changes and goes, one after the other,
// until ctx ends, and returns what it knows of them. An empty namespace is all of them, and fields
// a field selector or nothing.
func watch(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource, namespace,
	fields string, seen func(o *unstructured.Unstructured, gone bool)) cache.SharedIndexInformer {
	informer := dynamicinformer.NewFilteredDynamicInformer(client, resource, namespace, 0, cache.Indexers{},
		func(options *metav1.ListOptions) { options.FieldSelector = fields }).Informer()
	tell := func(object any, gone bool) {
		if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = last.Obj
		}
		if o, ok := object.(*unstructured.Unstructured); ok {
			seen(o, gone)
		}
	}
	// A type or a permission that is gone is what the tests are about: it is tried again, and
	// nobody need read of it.
	_ = informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {})
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { tell(o, false) },
		UpdateFunc: func(_, o any) { tell(o, false) },
		DeleteFunc: func(o any) { tell(o, true) },
	})
	go informer.RunWithContext(ctx)
	return informer
}
