package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
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
// asks reads them; an error is remembered too, with those that were read before it. A type that is
// proven not to be served has none.
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

// MetadataOnly reports whether the objects of a type hold nothing but data, and possibly secret
// ones, so that an examination reads their metadata alone.
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

// TimeIsKnown reports whether it is: what a dump has may be of long before the time of its files.
func (r *Reader) TimeIsKnown() bool {
	if r.client.still == nil {
		return true
	}
	_, known := r.client.still.AsOf()
	return known
}

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

// Workload is what a Deployment, StatefulSet or DaemonSet is recognised by: a small part of it, so
// that those of a large cluster fit in memory.
type Workload struct {
	Resource             schema.GroupResource
	Namespace, Name, UID string
	Labels, PodLabels    map[string]string
	// Annotations are those of the workload itself.
	Annotations map[string]string
	Owners      []metav1.OwnerReference
	// Images are those of its containers, without the init containers.
	Images         []string
	ServiceAccount string
}

// workloadItem is what is read of a workload. Whatever else it has is stepped over.
type workloadItem struct {
	Metadata struct {
		Namespace, Name, UID string
		Labels, Annotations  map[string]string
		OwnerReferences      []metav1.OwnerReference
	}
	Spec struct {
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				ServiceAccountName string
				Containers         []struct{ Image string }
			}
		}
	}
}

func (it *workloadItem) workload(resource schema.GroupResource) Workload {
	m, pod := &it.Metadata, &it.Spec.Template
	w := Workload{
		Resource: resource, Namespace: m.Namespace, Name: m.Name, UID: m.UID, Labels: m.Labels, Annotations: m.Annotations,
		Owners:    m.OwnerReferences,
		PodLabels: pod.Metadata.Labels, ServiceAccount: pod.Spec.ServiceAccountName,
	}
	for _, c := range pod.Spec.Containers {
		w.Images = append(w.Images, c.Image)
	}
	return w
}

// Workloads returns all workloads of a type (Deployments, StatefulSets or DaemonSets) in the
// cluster. The first who asks reads them, page by page; an error is remembered too. A type that is
// proven not to be served has none.
func (r *Reader) Workloads(ctx context.Context, resource schema.GroupResource) ([]Workload, error) {
	return r.workloads.Once(ctx, resource, func() ([]Workload, error) {
		of, served, err := r.served(resource)
		if !served {
			return nil, err
		}
		all, err := r.client.workloads(ctx, of.Type)
		r.note(ctx, of.Type, "", err)
		return all, err
	})
}

// workloads reads all workloads of a type.
func (c *Client) workloads(ctx context.Context, t graph.Type) ([]Workload, error) {
	resource := t.GroupResource()
	seen := map[string]bool{} // a list that had to begin again shows objects twice
	var all []Workload
	err := objectPages(ctx, c, ObjectRequest{Type: t}, func(it *workloadItem) error {
		if !seen[it.Metadata.UID] {
			seen[it.Metadata.UID] = true
			all = append(all, it.workload(resource))
		}
		return nil
	})
	return all, err
}

// fewPVCs is up to how many PVCs and their volumes are read one by one. For more than that, all
// volumes are listed once.
const fewPVCs = 16

// Volumes returns the PersistentVolumes that are bound to PVCs, by the uids of the PVCs. A PVC
// without one is left out; of those in failed it is not known. Expected is how many PVCs are asked
// about in all, if it is more than these.
func (r *Reader) Volumes(ctx context.Context, pvcs []graph.Ref,
	expected int) (bound map[string]*unstructured.Unstructured, failed map[string]error) {
	if max(len(pvcs), expected) > fewPVCs {
		return r.listVolumes(ctx, pvcs)
	}
	bound, failed = map[string]*unstructured.Unstructured{}, map[string]error{}
	var mu sync.Mutex
	Each(r.client, pvcs, func(_ int, pvc graph.Ref) {
		volume, err := r.volume(ctx, pvc)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			failed[pvc.UID] = err
		case volume != nil:
			bound[pvc.UID] = volume
		}
	})
	return bound, failed
}

// Volume returns a PersistentVolume, nil if it is proven to be absent or another one has its name.
func (r *Reader) Volume(ctx context.Context, ref graph.Ref) (*unstructured.Unstructured, error) {
	volume, err := r.GetObject(ctx, PersistentVolumes, "", ref.Name)
	if volume == nil || string(volume.GetUID()) != ref.UID {
		return nil, err
	}
	return volume, nil
}

// volume returns the volume of one claim, nil if it has none.
func (r *Reader) volume(ctx context.Context, ref graph.Ref) (*unstructured.Unstructured, error) {
	pvc, err := r.GetObject(ctx, PVCs, ref.Namespace, ref.Name)
	if pvc == nil || string(pvc.GetUID()) != ref.UID {
		return nil, err
	}
	name := status.Nested(pvc, "spec", "volumeName")
	if name == "" {
		return nil, nil
	}
	volume, err := r.GetObject(ctx, PersistentVolumes, "", name)
	if volume == nil || !isOf(volume, ref) {
		return nil, err
	}
	return volume, nil
}

// listVolumes finds the volumes of many PVCs among all there are.
func (r *Reader) listVolumes(ctx context.Context, pvcs []graph.Ref) (bound map[string]*unstructured.Unstructured,
	failed map[string]error) {
	bound, failed = map[string]*unstructured.Unstructured{}, map[string]error{}
	all, err := r.ListObjects(ctx, PersistentVolumes, "", Selection{})
	of := map[[2]string]*unstructured.Unstructured{}
	for _, volume := range all {
		namespace, name, _ := pvcOf(volume)
		of[[2]string{namespace, name}] = volume
	}
	for _, pvc := range pvcs {
		switch volume := of[[2]string{pvc.Namespace, pvc.Name}]; {
		case err != nil:
			failed[pvc.UID] = err
		case volume != nil && isOf(volume, pvc):
			bound[pvc.UID] = volume
		}
	}
	return bound, failed
}

// isOf reports whether a volume is bound to a PVC, or is to be: the controller has the uid come
// later.
func isOf(volume *unstructured.Unstructured, pvc graph.Ref) bool {
	namespace, name, uid := pvcOf(volume)
	return namespace == pvc.Namespace && name == pvc.Name && (uid == "" || uid == pvc.UID)
}

// pvcOf is the PVC that a volume names.
func pvcOf(volume *unstructured.Unstructured) (namespace, name, uid string) {
	ref, _, _ := unstructured.NestedStringMap(volume.Object, "spec", "claimRef")
	return ref["namespace"], ref["name"], ref["uid"]
}
