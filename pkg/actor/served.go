package actor

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// served looks behind the APIServices and webhooks that the pack names.
func (s *search) served(ctx context.Context) {
	for _, name := range s.alive.APIServices {
		s.apiService(ctx, name)
	}
	for _, name := range s.alive.Webhooks {
		s.webhook(ctx, name)
	}
}

// apiService looks at an APIService that a component serves. Groups of Kubernetes, as external.metrics.k8s.io, may be served by anybody.
func (s *search) apiService(ctx context.Context, name string) {
	o, err := s.reader.GetObject(ctx, cluster.APIServices, "", name)
	if err != nil {
		s.missed("APIService %s cannot be read: %v", name, err)
		return
	}
	s.seek("Service behind APIService " + name)
	if o == nil {
		return
	}
	namespace, service := status.Nested(o, "spec", "service", "namespace"), status.Nested(o, "spec", "service", "name")
	if strings.HasSuffix(status.Nested(o, "spec", "group"), ".k8s.io") {
		s.add(Sign{Life: Unknown, Says: fmt.Sprintf("Service %s/%s serves APIService %s, and may be another program's", namespace, service, name), From: place(o, "spec.service")})
		return
	}
	s.serves(ctx, namespace, service, "serves APIService "+name)
}

// webhook looks at what answers the webhooks of a configuration that a component serves.
func (s *search) webhook(ctx context.Context, name string) {
	for _, resource := range []schema.GroupResource{cluster.ValidatingWebhooks, cluster.MutatingWebhooks} {
		o, err := s.reader.GetObject(ctx, resource, "", name)
		if err != nil {
			s.missed("%s %s cannot be read: %v", resource.Resource, name, err)
			continue
		}
		for _, service := range webhookServices(o) {
			s.serves(ctx, service[0], service[1], fmt.Sprintf("answers %s %s", o.GetKind(), name))
		}
	}
	s.seek("Service behind webhook configuration " + name)
}

// webhookServices returns namespace and name of each Service that a webhook configuration calls, once.
func webhookServices(o *unstructured.Unstructured) [][2]string {
	if o == nil {
		return nil
	}
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

// serves looks at the endpoints of a Service, and at the workloads that it selects. That there is no endpoint is no witness, but one of these workloads may be
// one. It is not looked for without a name.
func (s *search) serves(ctx context.Context, namespace, name, what string) {
	if name == "" || !s.belongs(namespace, s.about.GetLabels()) {
		return
	}
	from := fmt.Sprintf("Service %s/%s", namespace, name)
	b := BackendOf(ctx, s.reader, namespace, name)
	switch {
	case b.Down:
		s.add(Sign{Life: Unknown, Says: fmt.Sprintf("%s, which %s", b.Why, what), From: from})
	case b.Why != "":
		s.missed("%s", b.Why)
		return
	default:
		s.add(Sign{Life: Alive, Says: fmt.Sprintf("%s, which %s, has ready endpoints", from, what), From: from})
	}
	service, err := s.reader.GetObject(ctx, cluster.Services, namespace, name)
	if err != nil || service == nil {
		return
	}
	s.found = true
	selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	if len(selector) == 0 {
		return
	}
	for _, t := range workloadTypes {
		all, err := s.reader.ListObjects(ctx, t.resource, namespace, cluster.Selection{})
		if err != nil {
			s.missed("%s in %s cannot be listed: %v", t.resource, namespace, err)
		}
		for _, o := range all {
			if labels.SelectorFromSet(selector).Matches(labels.Set(labelsOf(o)[1])) {
				s.workload(ctx, o)
			}
		}
	}
}
