package actor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Account returns the ServiceAccount that the pods of a workload run as.
func Account(workload *unstructured.Unstructured) cluster.ServiceAccount {
	path := []string{"spec", "template", "spec", "serviceAccountName"}
	if workload.GetKind() == "Pod" {
		path = []string{"spec", "serviceAccountName"}
	}
	name := status.Nested(workload, path...)
	if name == "" {
		name = "default"
	}
	return cluster.ServiceAccount{Namespace: workload.GetNamespace(), Name: name}
}

// maxNamespaces is up to how many namespaces workloads are listed one by one.
const maxNamespaces = 4

// workloadsIn returns the Deployments, StatefulSets and DaemonSets of some namespaces, and what
// could not be listed.
func (f *Finder) workloadsIn(ctx context.Context, namespaces []string) (all []*unstructured.Unstructured,
	unread []string) {
	if len(namespaces) > maxNamespaces {
		namespaces = []string{""}
	}
	var gaps []v1alpha1.Gap
	for _, namespace := range namespaces {
		for _, resource := range []schema.GroupResource{cluster.Deployments, cluster.StatefulSets, cluster.DaemonSets} {
			list, err := f.reader.ListObjects(ctx, resource, namespace, cluster.Selection{})
			if err != nil {
				gaps = append(gaps, unlisted(resource, namespace, err))
			}
			all = append(all, list...)
		}
	}
	return all, GapClauses(gaps...)
}

// podsOf returns the pods that run as a ServiceAccount: those of no workload that is known.
func (f *Finder) podsOf(ctx context.Context, a cluster.ServiceAccount) (pods []*unstructured.Unstructured,
	unread []string) {
	all, err := f.reader.ListObjects(ctx, cluster.Pods, a.Namespace,
		cluster.Selection{Fields: "spec.serviceAccountName=" + a.Name})
	if err != nil {
		unread = GapClauses(unlisted(cluster.Pods, a.Namespace, err))
	}
	return slices.DeleteFunc(slices.Clone(all), func(o *unstructured.Unstructured) bool {
		phase := status.Nested(o, "status", "phase")
		return phase == "Succeeded" || phase == "Failed"
	}), unread
}

// uses says that a workload runs as an account, and how many of its pods are ready.
func uses(o *unstructured.Unstructured) string {
	name := graph.Located(o.GetKind(), o.GetNamespace(), o.GetName())
	wanted, ready := number(o, 1, "spec", "replicas"), number(o, 0, "status", "readyReplicas")
	switch o.GetKind() {
	case "DaemonSet":
		wanted, ready = number(o, 0, "status", "desiredNumberScheduled"), number(o, 0, "status", "numberReady")
	case "Pod":
		if c, ok := status.Find(o, "Ready"); ok && c.Status == "True" {
			return name + " uses it, ready"
		}
		return name + " uses it, not ready"
	}
	if wanted == 0 && o.GetKind() != "DaemonSet" {
		return name + " uses it, scaled to 0"
	}
	return fmt.Sprintf("%s uses it, %d of %d ready", name, ready, wanted)
}

// running says whether a workload, or a pod, has something that is ready.
func running(o *unstructured.Unstructured) bool {
	return strings.HasSuffix(uses(o), ", ready") || o.GetKind() != "Pod" && ReadWorkload(o).Life == Alive
}
