package randomcluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// List reads a random cluster into a graph.
func (w *World) List(ctx context.Context, namespace string) (*graph.Graph, error) {
	var all [][]unstructured.Unstructured
	for _, k := range kinds {
		objects, err := w.resource(k.Kind, namespace).List(ctx, metav1.ListOptions{LabelSelector: label + "=" + namespace})
		if err != nil {
			return nil, err
		}
		all = append(all, objects.Items)
	}
	return build(namespace, all), nil
}

// ListAll reads all random clusters, each into a graph of its own, by namespace. One of which
// nothing is left is not among them.
func (w *World) ListAll(ctx context.Context) (map[string]*graph.Graph, error) {
	all := map[string][][]unstructured.Unstructured{}
	for i, k := range kinds {
		objects, err := w.resource(k.Kind, metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: label})
		if err != nil {
			return nil, err
		}
		for _, o := range objects.Items {
			namespace := o.GetLabels()[label]
			if all[namespace] == nil {
				all[namespace] = make([][]unstructured.Unstructured, len(kinds))
			}
			all[namespace][i] = append(all[namespace][i], o)
		}
	}
	graphs := map[string]*graph.Graph{}
	for namespace, objects := range all {
		graphs[namespace] = build(namespace, objects)
	}
	return graphs, nil
}

// build makes a graph of the objects of one random cluster, in the order of the kinds.
func build(namespace string, objects [][]unstructured.Unstructured) *graph.Graph {
	b := graph.NewBuilder()
	pods := graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	b.Serve(pods)
	b.Listing(pods, namespace).Complete() // there are none
	for i, k := range kinds {
		b.Serve(k)
		scope := namespace
		if !k.Namespaced {
			scope = ""
		}
		listing := b.Listing(k, scope)
		for j := range objects[i] {
			listing.Add(graphObject(&objects[i][j]))
		}
		listing.Complete()
	}
	return b.Build()
}

func graphObject(o *unstructured.Unstructured) graph.Object {
	out := graph.Object{
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()), ResourceVersion: o.GetResourceVersion(),
		Finalizers: o.GetFinalizers(), CreationTimestamp: o.GetCreationTimestamp().Unix(),
	}
	if d := o.GetDeletionTimestamp(); d != nil {
		out.DeletionTimestamp = d.Unix()
	}
	for _, r := range o.GetOwnerReferences() {
		out.Owners = append(out.Owners, graph.OwnerReference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID),
			Block: r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion,
		})
	}
	return out
}
