package actor

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// apiService looks at an APIService that a component serves.
func (f *Finder) apiService(ctx context.Context, s *signs, name string) {
	o, err := f.reader.Get(ctx, cluster.APIServices, "", name)
	if err != nil {
		s.missed("APIService %s cannot be read: %v", name, err)
		return
	}
	if o == nil {
		s.seek("APIService " + name)
		return
	}
	available, _ := status.Find(o, "Available")
	namespace, service := status.Nested(o, "spec", "service", "namespace"), status.Nested(o, "spec", "service", "name")
	if available.Status == "True" {
		s.found = true
		s.add(Sign{Life: Alive, Says: fmt.Sprintf("APIService %s is available", name), From: place(o, "status.conditions")})
		return
	}
	if available.Status == "False" {
		s.add(Sign{Life: Unknown, Says: fmt.Sprintf("APIService %s is not available: %s", name, available.Message), From: place(o, "status.conditions")})
	}
	f.serves(ctx, s, namespace, service, "serves APIService "+name)
}

// webhook looks at what answers the webhooks of a configuration that a component serves.
func (f *Finder) webhook(ctx context.Context, s *signs, name string) {
	found := false
	for _, resource := range []schema.GroupResource{cluster.ValidatingWebhooks, cluster.MutatingWebhooks} {
		o, err := f.reader.Get(ctx, resource, "", name)
		if err != nil {
			s.missed("%s %s cannot be read: %v", resource.Resource, name, err)
			found = true
			continue
		}
		if o == nil {
			continue
		}
		found = true
		for _, service := range webhookServices(o) {
			f.serves(ctx, s, service[0], service[1], fmt.Sprintf("answers %s %s", o.GetKind(), name))
		}
	}
	if !found {
		s.seek("webhook configuration " + name)
	}
}

// webhookServices returns namespace and name of each Service that a webhook configuration calls, once.
func webhookServices(o *unstructured.Unstructured) [][2]string {
	var all [][2]string
	seen := map[[2]string]bool{}
	hooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
	for _, hook := range hooks {
		m, _ := hook.(map[string]any)
		namespace, _, _ := unstructured.NestedString(m, "clientConfig", "service", "namespace")
		name, _, _ := unstructured.NestedString(m, "clientConfig", "service", "name")
		if service := [2]string{namespace, name}; name != "" && !seen[service] {
			seen[service] = true
			all = append(all, service)
		}
	}
	return all
}

// serves looks at the endpoints of a Service, and at the workloads that it selects. Without endpoints it is no witness: what stands behind it may be starting.
// It is not looked for without a name.
func (f *Finder) serves(ctx context.Context, s *signs, namespace, name, what string) {
	if name == "" {
		return
	}
	b := BackendOf(ctx, f.reader, namespace, name)
	from := fmt.Sprintf("Service %s/%s", namespace, name)
	switch {
	case b.Down:
		s.add(Sign{Life: Unknown, Says: fmt.Sprintf("%s, which %s", b.Why, what), From: from})
	case b.Why != "":
		s.missed("%s", b.Why)
	default:
		s.found = true
		s.add(Sign{Life: Alive, Says: fmt.Sprintf("Service %s/%s, which %s, has ready endpoints", namespace, name, what), From: from})
	}
}
