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

// component looks for the signs of life that a pack names.
func (f *Finder) component(ctx context.Context, known finalizer.Known) signs {
	var s signs
	if known.Component == apiServer {
		s.found = true
		s.add(Sign{Life: Alive, Says: "kube-apiserver answers"})
		return s
	}
	alive := known.Alive
	for _, workload := range []struct {
		resource schema.GroupResource
		names    []string
	}{{cluster.Deployments, alive.Deployments}, {cluster.StatefulSets, alive.StatefulSets}, {cluster.DaemonSets, alive.DaemonSets}} {
		for _, name := range workload.names {
			f.workload(ctx, &s, workload.resource, name)
		}
	}
	for _, selector := range alive.Labels {
		f.labelled(ctx, &s, selector)
	}
	for _, name := range alive.Leases {
		f.lease(ctx, &s, name)
	}
	for _, name := range alive.APIServices {
		f.apiService(ctx, &s, name)
	}
	for _, name := range alive.Webhooks {
		f.webhook(ctx, &s, name)
	}
	return s
}

// named finds the objects that a name in a pack means: namespace/name, where both may have a "*".
func (f *Finder) named(ctx context.Context, s *signs, resource schema.GroupResource, pattern string) []*unstructured.Unstructured {
	namespace, name, _ := strings.Cut(pattern, "/")
	kind := singular(resource)
	if !strings.ContainsAny(pattern, `*?[\`) {
		o, err := f.reader.Get(ctx, resource, namespace, name)
		switch {
		case err != nil:
			s.missed("%s %s cannot be read: %v", kind, pattern, err)
			return nil
		case o != nil:
			return []*unstructured.Unstructured{o}
		}
		s.seek(fmt.Sprintf("%s %s in %s", kind, name, namespace))
		return nil
	}
	selected := cluster.Selection{}
	if !strings.ContainsAny(name, `*?[\`) {
		selected.Fields = "metadata.name=" + name
	}
	all, err := f.reader.List(ctx, resource, "", selected)
	if err != nil {
		s.missed("%s cannot be listed: %v", resource, err)
		return nil
	}
	found := slices.DeleteFunc(slices.Clone(all), func(o *unstructured.Unstructured) bool {
		ok, err := path.Match(pattern, o.GetNamespace()+"/"+o.GetName())
		return err != nil || !ok
	})
	if len(found) == 0 {
		s.seek(fmt.Sprintf("%s %s", kind, strings.TrimPrefix(pattern, "*/")))
	}
	return found
}

// singular names a type as a sentence does.
func singular(resource schema.GroupResource) string {
	switch resource {
	case cluster.Deployments:
		return "Deployment"
	case cluster.StatefulSets:
		return "StatefulSet"
	case cluster.DaemonSets:
		return "DaemonSet"
	case cluster.Leases:
		return "Lease"
	case cluster.Pods:
		return "Pod"
	}
	return resource.String()
}
