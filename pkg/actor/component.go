package actor

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// apiServer is the component that answers, so that it is alive.
const apiServer = "kube-apiserver"

// workloadTypes are the types of workloads, as sentences name them.
var workloadTypes = []struct {
	resource schema.GroupResource
	kind     string
	names    func(finalizer.Alive) []string
}{
	{cluster.Deployments, "Deployment", func(a finalizer.Alive) []string { return a.Deployments }},
	{cluster.StatefulSets, "StatefulSet", func(a finalizer.Alive) []string { return a.StatefulSets }},
	{cluster.DaemonSets, "DaemonSet", func(a finalizer.Alive) []string { return a.DaemonSets }},
}

// usual looks for the workloads and Leases where the pack says that they are.
func (s *search) usual(ctx context.Context) {
	for _, t := range workloadTypes {
		for _, name := range t.names(s.alive) {
			for _, o := range s.named(ctx, t.resource, t.kind, name) {
				s.workload(ctx, o)
			}
		}
	}
	for _, selector := range s.alive.Labels {
		s.labelled(ctx, selector)
	}
	for _, name := range s.alive.Leases {
		s.lease(ctx, name)
	}
}

// named finds the objects that a name in a pack means: namespace/name, where both may have a "*".
func (s *search) named(ctx context.Context, resource schema.GroupResource, kind,
	pattern string) []*unstructured.Unstructured {
	namespace, name, _ := strings.Cut(pattern, "/")
	if !wild(pattern) {
		o, err := s.reader.GetObject(ctx, resource, namespace, name)
		switch {
		case err != nil:
			s.missed("%s %s cannot be read: %v", kind, pattern, err)
		case o == nil || !s.belongs(namespace, labelsOf(o)...):
			s.seek(fmt.Sprintf("%s %s in %s", kind, name, namespace))
		default:
			return []*unstructured.Unstructured{o}
		}
		return nil
	}
	selected := cluster.Selection{}
	if !wild(name) {
		selected.Fields = "metadata.name=" + name
	}
	all, err := s.reader.ListObjects(ctx, resource, "", selected)
	if err != nil {
		s.missed("%s cannot be listed: %v", resource, err)
		return nil
	}
	found := slices.DeleteFunc(slices.Clone(all), func(o *unstructured.Unstructured) bool {
		ok, err := path.Match(pattern, o.GetNamespace()+"/"+o.GetName())
		return err != nil || !ok || !s.belongs(o.GetNamespace(), labelsOf(o)...)
	})
	if len(found) == 0 {
		where := s.where()
		if !wild(namespace) {
			where = "in " + namespace
		}
		s.seek(fmt.Sprintf("%s %s %s", kind, name, where))
	}
	return found
}

// wild says whether a pattern has a wildcard.
func wild(pattern string) bool { return strings.ContainsAny(pattern, `*?[\`) }

// labelsOf returns the labels of a workload, and those of its pods.
func labelsOf(o *unstructured.Unstructured) []map[string]string {
	pods, _, _ := unstructured.NestedStringMap(o.Object, "spec", "template", "metadata", "labels")
	return []map[string]string{o.GetLabels(), pods}
}
