package admission

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
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

// Mutating reports whether the webhook may change the object.
func (h Webhook) Mutating() bool { return h.Config.GetKind() == "MutatingWebhookConfiguration" }

// Fails reports whether a write fails when the webhook does not answer. That is the default.
func (h Webhook) Fails() bool {
	return h.FailurePolicy == nil || *h.FailurePolicy == admissionv1.Fail
}

// String names the webhook as a sentence does.
func (h Webhook) String() string {
	return fmt.Sprintf("webhook %s of %s %s", h.Name, h.Config.GetKind(), h.Config.GetName())
}

// Covers reports whether a rule of the webhook names an operation on a type or a subresource of it.
func (h Webhook) Covers(operation admissionv1.OperationType, t graph.Type) bool {
	return h.covers(Write{Operation: operation, Type: t, subresources: true})
}

// covers leaves out webhook configurations and policies, which no webhook is called for.
func (h Webhook) covers(w Write) bool {
	return w.Type.Group != Group && slices.ContainsFunc(h.Rules, func(r admissionv1.RuleWithOperations) bool {
		return covers(r, h.MatchPolicy, w)
	})
}

// Service is what the server calls: a Service of the cluster, with the path of a webhook, or a URL.
type Service struct{ Namespace, Name, Path, URL string }

// Service returns what the server calls for the webhook.
func (h Webhook) Service() Service {
	var s Service
	if h.ClientConfig.Service != nil {
		s.Namespace, s.Name = h.ClientConfig.Service.Namespace, h.ClientConfig.Service.Name
		if path := h.ClientConfig.Service.Path; path != nil {
			s.Path = *path
		}
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
	s.URL = status.Nested(crd, "spec", "conversion", "webhook", "clientConfig", "url")
	return s, ok || s.URL != ""
}

func service(o *unstructured.Unstructured, path ...string) (s Service, ok bool) {
	m, _, _ := unstructured.NestedMap(o.Object, path...)
	s.Namespace, _, _ = unstructured.NestedString(m, "namespace")
	s.Name, _, _ = unstructured.NestedString(m, "name")
	return s, s.Name != ""
}

// Match reports whether the server calls something for a write.
type Match int

// A webhook or policy that may be called depends on what only the server can evaluate, or on labels
// that are not known.
const (
	Never Match = iota
	Maybe
	Always
)

// Group is the API group of webhook configurations and admission policies.
const Group = "admissionregistration.k8s.io"

// covers reports whether a rule names a write. With matchPolicy Equivalent, the default, the server
// calls a webhook with another version of the object too
// (k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules).
func covers(r admissionv1.RuleWithOperations, policy *admissionv1.MatchPolicyType, w Write) bool {
	one := func(list []string, wanted string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, wanted)
	}
	if !slices.Contains(r.Operations, admissionv1.OperationAll) && !slices.Contains(r.Operations, w.Operation) {
		return false
	}
	if exact := policy != nil && *policy == admissionv1.Exact; exact && !one(r.APIVersions, w.Type.Version) {
		return false
	}
	if r.Scope != nil && *r.Scope != admissionv1.AllScopes &&
		(*r.Scope == admissionv1.NamespacedScope) != w.Type.Namespaced {
		return false
	}
	return one(r.APIGroups, w.Type.Group) && slices.ContainsFunc(r.Resources, func(pattern string) bool {
		resource, subresource, _ := strings.Cut(pattern, "/")
		return (resource == "*" || resource == w.Type.Resource) && (subresource == w.Subresource || subresource == "*" || w.subresources)
	})
}

// selects says whether a selector selects labels. One that cannot be understood may.
func selects(selector *metav1.LabelSelector, of map[string]string, known bool) Match {
	if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return Always
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	switch {
	case err != nil || !known:
		return Maybe
	case s.Matches(labels.Set(of)):
		return Always
	}
	return Never
}

// Write is an operation on one object, as admission sees it.
type Write struct {
	Operation admissionv1.OperationType
	Type      graph.Type
	// Subresource is that of the object which is written, empty for the object itself.
	Subresource string
	// Object is the object as it is stored. Of an outline only name and namespace are known.
	Object  *unstructured.Unstructured
	Outline bool
	// subresources says that a write to any subresource of the object counts too.
	subresources bool
}

// Of is a write to an object of which only the name and the namespace are known.
func Of(operation admissionv1.OperationType, t graph.Type, namespace, name string) Write {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetNamespace(namespace)
	o.SetName(name)
	return Write{Operation: operation, Type: t, Object: o, Outline: true}
}

// String names the operation and the type, as in "UPDATE of widgets.example.com" and "UPDATE of
// namespaces/finalize".
func (w Write) String() string {
	what := w.Type.GroupResource().String()
	if w.Subresource != "" {
		what += "/" + w.Subresource
	}
	return fmt.Sprintf("%s of %s", w.Operation, what)
}
