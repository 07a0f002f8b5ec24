package admission

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Webhook is one webhook of a configuration. Both kinds have the fields that are read here.
type Webhook struct {
	admissionv1.ValidatingWebhook
	Config *unstructured.Unstructured
	// Index is its place among the webhooks of its configuration.
	Index int
}

// Webhooks returns the webhooks of a configuration. The error is that it cannot be understood.
func Webhooks(config *unstructured.Unstructured) ([]Webhook, error) {
	var all struct {
		Webhooks []admissionv1.ValidatingWebhook `json:"webhooks"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(config.Object, &all); err != nil {
		return nil, fmt.Errorf("%s %s cannot be understood: %w", config.GetKind(), config.GetName(), err)
	}
	hooks := make([]Webhook, len(all.Webhooks))
	for i, w := range all.Webhooks {
		hooks[i] = Webhook{w, config, i}
	}
	return hooks, nil
}

// Key is the same for the same webhook.
func (h Webhook) Key() string {
	return strings.Join([]string{h.Config.GetKind(), h.Config.GetName(), h.Name}, "/")
}

// Mutating says whether the webhook may change the object.
func (h Webhook) Mutating() bool { return h.Config.GetKind() == "MutatingWebhookConfiguration" }

// Fails says whether a write fails when the webhook does not answer. That is the default.
func (h Webhook) Fails() bool {
	return h.FailurePolicy == nil || *h.FailurePolicy == admissionv1.Fail
}

// String names the webhook as a sentence does.
func (h Webhook) String() string {
	return fmt.Sprintf("webhook %s of %s %s", h.Name, h.Config.GetKind(), h.Config.GetName())
}

// Covers says whether a rule of the webhook names an operation on a type or a subresource of it.
func (h Webhook) Covers(operation admissionv1.OperationType, t graph.Type) bool {
	return h.covers(Write{Operation: operation, Type: t, subresources: true})
}

// covers leaves out webhook configurations and policies, which no webhook is called for.
func (h Webhook) covers(w Write) bool {
	return w.Type.Group != Group && slices.ContainsFunc(h.Rules, func(r admissionv1.RuleWithOperations) bool {
		return covers(r, h.MatchPolicy, w)
	})
}

// Service is what the server calls: a Service of the cluster, or a URL.
type Service struct{ Namespace, Name, URL string }

// Service returns what the server calls for the webhook.
func (h Webhook) Service() Service {
	var s Service
	if h.ClientConfig.Service != nil {
		s.Namespace, s.Name = h.ClientConfig.Service.Namespace, h.ClientConfig.Service.Name
	}
	if h.ClientConfig.URL != nil {
		s.URL = *h.ClientConfig.URL
	}
	return s
}

// APIService returns the Service that an APIService names, none if kube-apiserver serves it itself.
func APIService(o *unstructured.Unstructured) (Service, bool) {
	return service(o, "spec", "service")
}

// Conversion returns what the server calls to convert the objects of a CustomResourceDefinition.
func Conversion(crd *unstructured.Unstructured) (Service, bool) {
	s, ok := service(crd, "spec", "conversion", "webhook", "clientConfig", "service")
	s.URL, _, _ = unstructured.NestedString(crd.Object, "spec", "conversion", "webhook", "clientConfig", "url")
	return s, ok || s.URL != ""
}

func service(o *unstructured.Unstructured, path ...string) (s Service, ok bool) {
	m, _, _ := unstructured.NestedMap(o.Object, path...)
	s.Namespace, _, _ = unstructured.NestedString(m, "namespace")
	s.Name, _, _ = unstructured.NestedString(m, "name")
	return s, s.Name != ""
}
