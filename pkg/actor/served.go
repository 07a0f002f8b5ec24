package actor

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
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

// apiService looks at an APIService that a component serves. Groups of Kubernetes, as
// external.metrics.k8s.io, may be served by anybody.
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
	service, _ := admission.APIService(o)
	if strings.HasSuffix(status.Nested(o, "spec", "group"), ".k8s.io") {
		s.add(Sign{Life: Unknown, Says: fmt.Sprintf("Service %s/%s serves APIService %s, and may be another program's",
			service.Namespace, service.Name, name), From: place(o, "spec.service")})
		return
	}
	s.serves(ctx, service, "serves APIService "+name)
}

// webhook looks at what answers the webhooks of a configuration that a component serves.
func (s *search) webhook(ctx context.Context, name string) {
	for _, resource := range []schema.GroupResource{admission.ValidatingWebhooks, admission.MutatingWebhooks} {
		o, err := s.reader.GetObject(ctx, resource, "", name)
		if err != nil {
			s.missed("%s %s cannot be read: %v", resource.Resource, name, err)
			continue
		}
		if o != nil {
			hooks, _ := admission.Webhooks(o)
			s.servesAll(ctx, hooks, fmt.Sprintf("answers %s %s", o.GetKind(), name))
		}
	}
	s.seek("Service behind webhook configuration " + name)
}

// servesAll looks at the Services that webhooks call, at each once.
func (s *search) servesAll(ctx context.Context, hooks []admission.Webhook, what string) {
	seen := map[admission.Service]bool{}
	for _, h := range hooks {
		if service := h.Service(); !seen[service] {
			seen[service] = true
			s.serves(ctx, service, what)
		}
	}
}

// serves looks at the endpoints of a Service, and at the workloads that it selects. That there is
// no endpoint is no witness, but one of these workloads may be one. It is not looked for without a
// name.
func (s *search) serves(ctx context.Context, of admission.Service, what string) {
	namespace, name := of.Namespace, of.Name
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

// Backend is what stands behind a Service that the API server calls.
type Backend struct {
	Namespace, Name string
	// Down says that nothing can answer, and Why what is missing. Why without Down is that it could
	// not be found out.
	Down bool
	Why  string
}

// BackendOf looks whether a Service has an endpoint that is ready.
func BackendOf(ctx context.Context, r *cluster.Reader, namespace, name string) Backend {
	b := Backend{Namespace: namespace, Name: name}
	service, err := r.GetObject(ctx, cluster.Services, namespace, name)
	switch {
	case err != nil:
		b.Why = fmt.Sprintf("Service %s/%s cannot be read: %v", namespace, name, err)
		return b
	case service == nil:
		b.Down, b.Why = true, fmt.Sprintf("Service %s/%s does not exist", namespace, name)
		return b
	}
	if kind, _, _ := unstructured.NestedString(service.Object, "spec", "type"); kind == "ExternalName" {
		b.Why = fmt.Sprintf("Service %s/%s is a name outside the cluster", namespace, name)
		return b
	}
	slices, err := r.ListObjects(ctx, cluster.EndpointSlices, namespace,
		cluster.Selection{Labels: "kubernetes.io/service-name=" + name})
	if err != nil {
		b.Why = fmt.Sprintf("the endpoints of Service %s/%s cannot be listed: %v", namespace, name, err)
		return b
	}
	for _, slice := range slices {
		if answers(slice) {
			return b
		}
	}
	b.Down, b.Why = true, fmt.Sprintf("Service %s/%s has no ready endpoints", namespace, name)
	return b
}

// answers says whether an EndpointSlice has an endpoint that takes connections; one whose condition
// is not set does.
func answers(slice *unstructured.Unstructured) bool {
	list, _, _ := unstructured.NestedSlice(slice.Object, "endpoints")
	for _, item := range list {
		m, _ := item.(map[string]any)
		state, said, _ := unstructured.NestedBool(m, "conditions", "ready")
		addresses, _, _ := unstructured.NestedStringSlice(m, "addresses")
		if len(addresses) > 0 && (!said || state) {
			return true
		}
	}
	return false
}
