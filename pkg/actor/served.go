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
		s.unread = append(s.unread, fmt.Sprintf("APIService %s cannot be read: %v", name, err))
		return
	}
	if o == nil {
		s.absent = append(s.absent, "APIService "+name)
		return
	}
	switch available, _ := status.Find(o, "Available"); available.Status {
	case "True":
		s.alive = append(s.alive, fmt.Sprintf("APIService %s is available", name))
	case "False":
		s.dead = append(s.dead, fmt.Sprintf("APIService %s is not available: %s", name, available.Message))
	}
}

// webhook looks at what answers the webhooks of a configuration that a component serves.
func (f *Finder) webhook(ctx context.Context, s *signs, name string) {
	found := false
	for _, resource := range []schema.GroupResource{cluster.ValidatingWebhooks, cluster.MutatingWebhooks} {
		o, err := f.reader.Get(ctx, resource, "", name)
		if err != nil {
			s.unread = append(s.unread, fmt.Sprintf("%s %s cannot be read: %v", resource.Resource, name, err))
			found = true
			continue
		}
		if o == nil {
			continue
		}
		found = true
		for _, service := range webhookServices(o) {
			switch b := BackendOf(ctx, f.reader, service[0], service[1]); {
			case b.Down:
				s.dead = append(s.dead, fmt.Sprintf("%s of %s %s", b.Why, o.GetKind(), name))
			case b.Why == "":
				s.alive = append(s.alive, fmt.Sprintf("Service %s/%s of %s %s has ready endpoints", service[0], service[1], o.GetKind(), name))
			}
		}
	}
	if !found {
		s.absent = append(s.absent, "webhook configuration "+name)
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
