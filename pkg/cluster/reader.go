package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Reader reads what an examination wants to know of the cluster, each thing once. It is safe for
// concurrent use.
type Reader struct {
	client  *Client
	catalog *Catalog

	mu   sync.Mutex
	gaps []v1alpha1.Gap // what could not be read

	admission *admission.Registry

	lists     Asked[listKey, []*unstructured.Unstructured]
	gets      Asked[getKey, *unstructured.Unstructured]
	workloads Asked[schema.GroupResource, []Workload]
	reviews   Asked[reviewKey, Review] // of ServiceAccounts
}

type listKey struct {
	resource  schema.GroupResource
	namespace string
	selected  Selection
	metadata  bool // and no more of the objects
}

type getKey struct {
	resource        schema.GroupResource
	namespace, name string
}

// NewReader returns a Reader that has read nothing yet.
func NewReader(client *Client, catalog *Catalog) *Reader {
	r := &Reader{client: client, catalog: catalog}
	r.admission = admission.NewRegistry(admission.Source{
		List: func(ctx context.Context, of schema.GroupResource) ([]*unstructured.Unstructured, error) {
			return r.ListObjects(ctx, of, "", Selection{})
		},
		Namespace: func(ctx context.Context, name string) (*unstructured.Unstructured, error) {
			return r.GetObject(ctx, Namespaces, "", name)
		},
	})
	return r
}

// Admission returns what the server asks before it writes.
func (r *Reader) Admission() *admission.Registry { return r.admission }

// ListObjects returns the selected objects of a type, in a namespace or everywhere. The first who
// asks reads them; an error is remembered too. A type that is proven not to be served has none.
func (r *Reader) ListObjects(ctx context.Context, resource schema.GroupResource, namespace string,
	selected Selection) ([]*unstructured.Unstructured, error) {
	return r.list(ctx, listKey{resource, namespace, selected, false}, r.client.ListObjects)
}

// ListObjectMetas is ListObjects for who wants to know which objects there are: their metadata only.
func (r *Reader) ListObjectMetas(ctx context.Context, resource schema.GroupResource, namespace string,
	selected Selection) ([]*unstructured.Unstructured, error) {
	return r.list(ctx, listKey{resource, namespace, selected, true}, r.client.ListObjectMetas)
}

// list reads a list, once.
func (r *Reader) list(ctx context.Context, of listKey, list func(context.Context, graph.Type, string,
	Selection) ([]*unstructured.Unstructured, error)) ([]*unstructured.Unstructured, error) {
	resource, namespace := of.resource, of.namespace
	return r.lists.Once(ctx, of, func() ([]*unstructured.Unstructured, error) {
		t, served, err := r.served(resource)
		if !served {
			return nil, err
		}
		all, err := list(ctx, t.Type, namespace, of.selected)
		if r.client.undefined(ctx, r.catalog, t.Type, err) {
			return nil, nil
		}
		r.note(ctx, t.Type, namespace, err)
		return all, err
	})
}

// GetObject returns one object, nil if it is proven to be absent. If its type is proven not to be
// served, it is.
func (r *Reader) GetObject(ctx context.Context, resource schema.GroupResource, namespace,
	name string) (*unstructured.Unstructured, error) {
	return r.gets.Once(ctx, getKey{resource, namespace, name}, func() (*unstructured.Unstructured, error) {
		of, served, err := r.served(resource)
		if !served {
			return nil, err
		}
		return r.GetLive(ctx, of.Type, namespace, name)
	})
}

// served returns a type. The error is for one that discovery does not show and may be served all
// the same.
func (r *Reader) served(resource schema.GroupResource) (of Resource, served bool, err error) {
	of, served = r.catalog.Lookup(resource)
	if !served && !r.catalog.Omits(resource) {
		err = fmt.Errorf("discovery does not show %s", resource)
	}
	return of, served, err
}

// GetLive reads one object live, nil if it is proven to be absent. Of what holds nothing but data,
// and possibly secret ones, it reads the metadata.
func (r *Reader) GetLive(ctx context.Context, t graph.Type, namespace, name string) (*unstructured.Unstructured,
	error) {
	get := r.client.GetObject
	if MetadataOnly(t) {
		get = r.client.GetObjectMeta
	}
	o, err := get(ctx, t, namespace, name)
	if IsAbsent(err, t, name) {
		return nil, nil
	}
	r.note(ctx, t, namespace, err)
	return o, err
}

// MetadataOnly says whether the objects of a type hold nothing but data, and possibly secret ones,
// so that an examination reads their metadata alone.
func MetadataOnly(t graph.Type) bool {
	return t.Group == "" && (t.Resource == "secrets" || t.Resource == "configmaps")
}

// Concurrency is how many requests the client sends at a time.
func (r *Reader) Concurrency() int { return r.client.Concurrency() }

// Catalog returns what the server serves.
func (r *Reader) Catalog() *Catalog { return r.catalog }

// Lookup returns a type that the server serves.
func (r *Reader) Lookup(resource schema.GroupResource) (Resource, bool) {
	return r.catalog.Lookup(resource)
}

// Kind returns the type of a kind, given by its apiVersion.
func (r *Reader) Kind(apiVersion, kind string) (graph.Type, bool) {
	return r.catalog.Kind(apiVersion, kind)
}

// KindIn returns the type of a kind in a group, in the version that the server prefers. The type is
// not served, or not known to be, without one.
func (r *Reader) KindIn(group, kind string) (Resource, bool) {
	for _, of := range r.catalog.Resources {
		if of.Group == group && of.Kind == kind {
			return of, true
		}
	}
	return Resource{}, false
}

// Now returns the time by the API server's clock.
func (r *Reader) Now() time.Time { return r.client.Now() }

// ForEachMeta calls a function for the metadata of each object of a type, everywhere. It is not
// remembered.
func (r *Reader) ForEachMeta(ctx context.Context, t graph.Type, of func(*graph.Object)) error {
	_, err := r.client.ForEachMeta(ctx, t, "", of)
	return err
}

// note remembers what an examination could not read, and perhaps had to know.
func (r *Reader) note(ctx context.Context, t graph.Type, namespace string, err error) {
	if err == nil {
		return
	}
	gap, ok := GapOf(ctx, t, namespace, err)
	if !ok {
		return // the examination ends, or its listing has told
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gaps = append(r.gaps, gap)
}

// Unread returns, besides gaps that are known, what could not be read: each type and namespace
// once.
func (r *Reader) Unread(known []v1alpha1.Gap) []v1alpha1.Gap {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortStableFunc(r.gaps, func(a, b v1alpha1.Gap) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource),
			strings.Compare(a.Namespace, b.Namespace))
	})
	all := slices.Clone(known)
	for _, gap := range r.gaps {
		if !slices.ContainsFunc(all, func(k v1alpha1.Gap) bool {
			return k.Hides(gap.Group, gap.Resource, gap.Namespace)
		}) {
			all = append(all, gap)
		}
	}
	return all[len(known):]
}
