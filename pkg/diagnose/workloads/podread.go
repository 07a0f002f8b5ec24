package workloads

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// podReader reads the pods that are being deleted: one by one where they are few, and by a list of their namespace where a node has left many behind.
type podReader struct {
	deleting map[string]int                                   // how many, by namespace
	listed   map[string]map[string]*unstructured.Unstructured // by namespace and uid
}

// read reads a pod live, nil if it is gone.
func (r *podReader) read(ctx context.Context, e *Examiner, id graph.ID) (*unstructured.Unstructured, error) {
	ref := e.Graph.Ref(id)
	if r.deleting == nil {
		r.deleting, r.listed = map[string]int{}, map[string]map[string]*unstructured.Unstructured{}
		for i := range e.Graph.Len() {
			if o := e.Graph.Ref(graph.ID(i)); o.Resource == cluster.Pods.Resource && o.Group() == "" && e.Graph.DeletionTimestamp(graph.ID(i)) != 0 {
				r.deleting[o.Namespace]++
			}
		}
	}
	if r.deleting[ref.Namespace] <= core.MaxByName || len(e.Graph.Finalizers(id)) > 0 {
		o, err := e.Object(ctx, id)
		if o != nil && string(o.GetUID()) != ref.UID {
			o = nil
		}
		return o, err
	}
	if r.listed[ref.Namespace] == nil {
		all, err := e.Reader.ListObjects(ctx, cluster.Pods, ref.Namespace, cluster.Selection{})
		if err != nil {
			return nil, err
		}
		byUID := make(map[string]*unstructured.Unstructured, len(all))
		for _, o := range all {
			byUID[string(o.GetUID())] = o
		}
		r.listed[ref.Namespace] = byUID
	}
	return r.listed[ref.Namespace][ref.UID], nil
}
