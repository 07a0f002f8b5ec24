package operator

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// Client makes the requests of an operator, with the permissions of its ServiceAccount. It is safe
// for concurrent use.
type Client struct {
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
	manager string
}

// Ref names an object. Resource is its type as kubectl names it, with its version.
type Ref struct {
	Resource, Namespace, Name string
}

func newClient(config *rest.Config, manager string) (*Client, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Client{client, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(served)), manager}, nil
}

// resourceOf reads the name of a type.
func resourceOf(name string) schema.GroupVersionResource {
	if gvr, _ := schema.ParseResourceArg(name); gvr != nil {
		return *gvr
	}
	resource, version, _ := strings.Cut(name, ".")
	return schema.GroupVersionResource{Version: version, Resource: resource}
}

func (c *Client) of(r Ref) dynamic.ResourceInterface {
	return c.dynamic.Resource(resourceOf(r.Resource)).Namespace(r.Namespace)
}

// Exists reports whether an object exists.
func (c *Client) Exists(ctx context.Context, r Ref) (bool, error) {
	_, err := c.of(r).Get(ctx, r.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// List returns the objects of a type in all namespaces that a label selector selects.
func (c *Client) List(ctx context.Context, resource, labels string) ([]unstructured.Unstructured, error) {
	list, err := c.dynamic.Resource(resourceOf(resource)).List(ctx, metav1.ListOptions{LabelSelector: labels})
	if apierrors.IsNotFound(err) { // the type is gone
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Delete deletes objects in the background, and reports whether all are gone.
func (c *Client) Delete(ctx context.Context, refs ...Ref) (gone bool, err error) {
	gone = true
	policy := metav1.DeletePropagationBackground
	for _, r := range refs {
		o, err := c.of(r).Get(ctx, r.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err == nil && o.GetDeletionTimestamp() == nil {
			err = c.of(r).Delete(ctx, r.Name, metav1.DeleteOptions{PropagationPolicy: &policy})
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
		gone = false // or will be at the next look
	}
	return gone, nil
}

// stillLives is an error if an object, of which a watch has told, is gone or being deleted by now.
func (c *Client) stillLives(ctx context.Context, resource string, o *unstructured.Unstructured) error {
	now, err := c.of(Ref{resource, o.GetNamespace(), o.GetName()}).Get(ctx, o.GetName(), metav1.GetOptions{})
	if err == nil && (now.GetUID() != o.GetUID() || now.GetDeletionTimestamp() != nil) {
		return errUnfinished
	}
	return err
}

// kind is the type of a manifest.
func (c *Client) kind(o *unstructured.Unstructured) (*meta.RESTMapping, error) {
	gvk := o.GroupVersionKind()
	m, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		c.mapper.Reset() // it may be new
	}
	return m, err
}

// create creates what a manifest says. It is false if that is there already.
func (c *Client) create(ctx context.Context, m *meta.RESTMapping,
	o *unstructured.Unstructured) (*unstructured.Unstructured, bool, error) {
	made, err := c.dynamic.Resource(m.Resource).Namespace(o.GetNamespace()).Create(ctx, o,
		metav1.CreateOptions{FieldManager: c.manager})
	if apierrors.IsAlreadyExists(err) {
		return nil, false, nil
	}
	return made, err == nil, err
}
