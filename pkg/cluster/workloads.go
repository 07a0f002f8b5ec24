package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

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
	resource := schema.GroupResource{Group: t.Group, Resource: t.Resource}
	seen := map[string]bool{} // a list that had to begin again shows objects twice
	var all []Workload
	err := objectPages(ctx, c, ObjectRequest{Type: t}, func(it *workloadItem) error {
		if !seen[it.Metadata.UID] {
			seen[it.Metadata.UID] = true
			all = append(all, it.workload(resource))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
