package main

import (
	"context"
	"fmt"
	"sync/atomic"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// clientConfig returns how to reach the cluster of a kubeconfig, without client-side throttling and
// without the warnings of the server.
func clientConfig(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig %s: %w", kubeconfig, err)
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{} // one for each object with a finalizer
	return config, nil
}

// creator creates objects of built-in types, in protobuf.
type creator struct {
	clients map[schema.GroupVersion]rest.Interface
	created atomic.Int64
}

func newCreator(kubeconfig string) (*creator, error) {
	config, err := clientConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c := &creator{clients: map[schema.GroupVersion]rest.Interface{}}
	for _, gv := range []schema.GroupVersion{corev1.SchemeGroupVersion, appsv1.SchemeGroupVersion,
		rbacv1.SchemeGroupVersion} {
		config := rest.CopyConfig(config)
		config.GroupVersion, config.APIPath = &gv, "/apis"
		if gv.Group == "" {
			config.APIPath = "/api"
		}
		c.clients[gv], err = rest.RESTClientFor(config)
		if err != nil {
			return nil, fmt.Errorf("configuring the client of %s: %w", gv, err)
		}
	}
	return c, nil
}

// clientObject is an object of a built-in type.
type clientObject interface {
	runtime.Object
	metav1.Object
}

// create creates the object as the field manager, and reads into it what the server made of it.
func (c *creator) create(ctx context.Context, gvr schema.GroupVersionResource, manager string, o clientObject) error {
	err := c.clients[gvr.GroupVersion()].Post().
		NamespaceIfScoped(o.GetNamespace(), o.GetNamespace() != "").
		Resource(gvr.Resource).
		Param("fieldManager", manager).
		Body(o).
		Do(ctx).
		Into(o)
	if err != nil {
		return fmt.Errorf("creating %s %s/%s: %w", gvr.Resource, o.GetNamespace(), o.GetName(), err)
	}
	c.created.Add(1)
	return nil
}
