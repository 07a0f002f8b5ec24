package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// source reads what an examination wants to know of the cluster, each thing once. It is safe for concurrent use.
type source struct {
	client  *cluster.Client
	catalog *cluster.Catalog

	mu    sync.Mutex
	gaps  []v1alpha1.Gap // what could not be read
	lists map[listKey]func() ([]*unstructured.Unstructured, error)
	gets  map[getKey]func() (*unstructured.Unstructured, error)
}

type listKey struct {
	resource  schema.GroupResource
	namespace string
	selected  cluster.Selection
}

type getKey struct {
	resource        schema.GroupResource
	namespace, name string
}

func newSource(client *cluster.Client, catalog *cluster.Catalog) *source {
	return &source{
		client: client, catalog: catalog,
		lists: map[listKey]func() ([]*unstructured.Unstructured, error){},
		gets:  map[getKey]func() (*unstructured.Unstructured, error){},
	}
}

// list returns the selected objects of a type, in a namespace or everywhere. The first who asks reads them; an error is remembered too. A type that is
// proven not to be served has none.
func (s *source) list(ctx context.Context, resource schema.GroupResource, namespace string, selected cluster.Selection) ([]*unstructured.Unstructured, error) {
	key := listKey{resource, namespace, selected}
	s.mu.Lock()
	read, asked := s.lists[key]
	if !asked {
		read = sync.OnceValues(func() ([]*unstructured.Unstructured, error) {
			r, served, err := s.served(resource)
			if !served {
				return nil, err
			}
			all, err := s.client.ListWhole(ctx, r.Type, namespace, selected)
			s.note(ctx, r.Type, namespace, err)
			return all, err
		})
		s.lists[key] = read
	}
	s.mu.Unlock()
	return read()
}

// get returns one object, nil if it is proven to be absent. If its type is proven not to be served, it is.
func (s *source) get(ctx context.Context, resource schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	key := getKey{resource, namespace, name}
	s.mu.Lock()
	read, asked := s.gets[key]
	if !asked {
		read = sync.OnceValues(func() (*unstructured.Unstructured, error) {
			r, served, err := s.served(resource)
			if !served {
				return nil, err
			}
			return s.read(ctx, r.Type, namespace, name)
		})
		s.gets[key] = read
	}
	s.mu.Unlock()
	return read()
}

// served returns a type. The error is for one that discovery does not show and may be served all the same.
func (s *source) served(resource schema.GroupResource) (r cluster.Resource, served bool, err error) {
	r, served = s.catalog.Lookup(resource)
	if !served && !s.catalog.Omits(resource) {
		err = fmt.Errorf("discovery does not show %s", resource)
	}
	return r, served, err
}

// read reads one object live, nil if it is proven to be absent. Of what holds nothing but data, and possibly secret ones, it reads the metadata.
func (s *source) read(ctx context.Context, t graph.Type, namespace, name string) (*unstructured.Unstructured, error) {
	get := s.client.GetWhole
	if t.Group == "" && (t.Resource == "secrets" || t.Resource == "configmaps") {
		get = s.client.GetMetadata
	}
	o, err := get(ctx, t, namespace, name)
	if cluster.IsAbsent(err, t, name) {
		return nil, nil
	}
	s.note(ctx, t, namespace, err)
	return o, err
}

// note remembers what an examination could not read, and perhaps had to know.
func (s *source) note(ctx context.Context, t graph.Type, namespace string, err error) {
	if err == nil {
		return
	}
	gap, ok := cluster.GapOf(ctx, t, namespace, err)
	if !ok {
		return // the examination ends, or its listing has told
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gaps = append(s.gaps, gap)
}

// unread returns, besides gaps that are known, what could not be read: each type and namespace once.
func (s *source) unread(known []v1alpha1.Gap) []v1alpha1.Gap {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(s.gaps, func(a, b v1alpha1.Gap) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource), strings.Compare(a.Namespace, b.Namespace))
	})
	all := slices.Clone(known)
	for _, gap := range s.gaps {
		if !slices.ContainsFunc(all, func(k v1alpha1.Gap) bool {
			return k.Group == gap.Group && (k.Resource == gap.Resource || k.Resource == "*") && (k.Namespace == "" || k.Namespace == gap.Namespace)
		}) {
			all = append(all, gap)
		}
	}
	return all[len(known):]
}

// The types that are looked into.
var (
	apiServices        = schema.GroupResource{Group: "apiregistration.k8s.io", Resource: "apiservices"}
	claims             = schema.GroupResource{Resource: "persistentvolumeclaims"}
	definitions        = schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	deployments        = schema.GroupResource{Group: "apps", Resource: "deployments"}
	statefulSets       = schema.GroupResource{Group: "apps", Resource: "statefulsets"}
	daemonSets         = schema.GroupResource{Group: "apps", Resource: "daemonsets"}
	endpointSlices     = schema.GroupResource{Group: "discovery.k8s.io", Resource: "endpointslices"}
	leases             = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	mutatingWebhooks   = schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations"}
	namespaces         = schema.GroupResource{Resource: "namespaces"}
	nodes              = schema.GroupResource{Resource: "nodes"}
	persistentVolumes  = schema.GroupResource{Resource: "persistentvolumes"}
	pods               = schema.GroupResource{Resource: "pods"}
	services           = schema.GroupResource{Resource: "services"}
	validatingPolicies = schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicies"}
	validatingWebhooks = schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations"}
	volumeAttachments  = schema.GroupResource{Group: "storage.k8s.io", Resource: "volumeattachments"}
)
