package randomcluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// List reads a random cluster into a graph.
func (w *World) List(ctx context.Context, namespace string) (*graph.Graph, error) {
	b := graph.NewBuilder()
	b.Serve(graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true})
	b.Listing(graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}, namespace).Complete() // there are none
	for _, k := range kinds {
		b.Serve(k)
		scope := namespace
		if !k.Namespaced {
			scope = ""
		}
		listing := b.Listing(k, scope)
		objects, err := w.resource(k.Kind, namespace).List(ctx, metav1.ListOptions{LabelSelector: label + "=" + namespace})
		if err != nil {
			return nil, err
		}
		for i := range objects.Items {
			listing.Add(graphObject(&objects.Items[i]))
		}
		listing.Complete()
	}
	return b.Build(), nil
}

func graphObject(o *unstructured.Unstructured) graph.Object {
	out := graph.Object{
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()), ResourceVersion: o.GetResourceVersion(),
		Finalizers: o.GetFinalizers(), Created: o.GetCreationTimestamp().Unix(),
	}
	if d := o.GetDeletionTimestamp(); d != nil {
		out.Deleted = d.Unix()
	}
	for _, r := range o.GetOwnerReferences() {
		out.Owners = append(out.Owners, graph.OwnerReference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID),
			Block: r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion,
		})
	}
	return out
}
