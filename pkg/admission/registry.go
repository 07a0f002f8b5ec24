package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// The types of what the server asks.
var (
	ValidatingWebhooks = schema.GroupResource{Group: Group, Resource: "validatingwebhookconfigurations"}
	MutatingWebhooks   = schema.GroupResource{Group: Group, Resource: "mutatingwebhookconfigurations"}
	ValidatingPolicies = schema.GroupResource{Group: Group, Resource: "validatingadmissionpolicies"}
	MutatingPolicies   = schema.GroupResource{Group: Group, Resource: "mutatingadmissionpolicies"}
)

// Source is where a Registry reads from. It remembers what was read, and is safe for concurrent
// use.
type Source struct {
	// List returns all objects of a cluster-scoped type.
	List func(context.Context, schema.GroupResource) ([]*unstructured.Unstructured, error)
	// Namespace returns a namespace, nil if it is absent.
	Namespace func(context.Context, string) (*unstructured.Unstructured, error)
}

// Registry is what a server asks. It reads each type once, when it is asked for; what was read
// while the context ended is read again by the next. It is safe for concurrent use.
type Registry struct {
	source Source

	mu       sync.Mutex
	webhooks *registered
	policies map[schema.GroupResource]applied
}

// registered are all webhooks.
type registered struct {
	hooks  []Webhook
	unread []string
}

// applied are the policies of a type with their bindings.
type applied struct {
	policies []Policy
	bindings []binding
	unread   []string
	// named are the names of single objects in the rules of both.
	named map[string]bool
}

// note notes which objects some constraints name.
func (a *applied) note(m *admissionv1.MatchResources) {
	if m == nil {
		return
	}
	for _, rule := range slices.Concat(m.ResourceRules, m.ExcludeResourceRules) {
		for _, name := range rule.ResourceNames {
			a.named[name] = true
		}
	}
}

// NewRegistry returns a Registry that has read nothing yet.
func NewRegistry(source Source) *Registry {
	return &Registry{source: source, policies: map[schema.GroupResource]applied{}}
}

// Webhooks returns all webhooks, those that mutate first as the server calls them, and what could
// not be read.
func (r *Registry) Webhooks(ctx context.Context) (hooks []Webhook, unread []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.webhooks != nil {
		return r.webhooks.hooks, r.webhooks.unread
	}
	hooks, unread = r.readWebhooks(ctx)
	if ctx.Err() == nil {
		r.webhooks = &registered{hooks, unread}
	}
	return hooks, unread
}

// unlisted says that a list could not be read, and why.
func unlisted(resource schema.GroupResource, err error) string {
	if apierrors.IsForbidden(err) {
		return "you may not list " + resource.Resource
	}
	return fmt.Sprintf("%s cannot be listed: %v", resource.Resource, err)
}

func (r *Registry) readWebhooks(ctx context.Context) (hooks []Webhook, unread []string) {
	for _, resource := range []schema.GroupResource{MutatingWebhooks, ValidatingWebhooks} {
		configs, err := r.source.List(ctx, resource)
		if err != nil {
			unread = append(unread, unlisted(resource, err))
			continue
		}
		for _, config := range configs {
			of, err := Webhooks(config)
			if err != nil {
				unread = append(unread, err.Error())
			}
			hooks = append(hooks, of...)
		}
	}
	return hooks, unread
}

// Calls says whether the server calls a webhook for a write.
func (r *Registry) Calls(ctx context.Context, h Webhook, w Write) Match {
	if !h.covers(w) {
		return Never
	}
	match := r.selected(ctx, h.ObjectSelector, h.NamespaceSelector, w)
	if len(h.MatchConditions) > 0 {
		return min(match, Maybe)
	}
	return match
}

// selected says whether a write is to one of the selected objects.
func (r *Registry) selected(ctx context.Context, objects, namespaces *metav1.LabelSelector, w Write) Match {
	match := selects(objects, w.Object.GetLabels(), !w.Outline)
	if match == Never {
		return Never
	}
	namespace := w.Object.GetNamespace()
	switch {
	case w.Type.Group == "" && w.Type.Resource == "namespaces":
		return min(match, selects(namespaces, w.Object.GetLabels(), !w.Outline))
	case namespace == "": // a selector of namespaces leaves out no other cluster-scoped object
		return match
	case selects(namespaces, nil, false) == Always:
		return match
	}
	o, err := r.source.Namespace(ctx, namespace)
	if err != nil || o == nil {
		return min(match, Maybe)
	}
	return min(match, selects(namespaces, o.GetLabels(), true))
}

// Policies returns the policies of a type that a binding may apply to a write, each once, and what
// could not be read. Conditions and parameters, which only the server can evaluate, count as met.
func (r *Registry) Policies(ctx context.Context, of schema.GroupResource, w Write) (all []Policy, unread []string) {
	if w.Type.Group == Group && strings.Contains(w.Type.Resource, "admissionpolic") { // which none is applied to
		return nil, nil
	}
	a := r.applied(ctx, of)
	for _, p := range a.policies {
		if p.MatchConstraints != nil && r.constrains(ctx, p.MatchConstraints, w) &&
			slices.ContainsFunc(a.bindings, func(b binding) bool {
				return b.of(p) && (b.MatchResources == nil || r.constrains(ctx, b.MatchResources, w))
			}) {
			all = append(all, p)
		}
	}
	return all, a.unread
}

// applied returns the policies of a type, and reads them if nobody has yet.
func (r *Registry) applied(ctx context.Context, of schema.GroupResource) applied {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, known := r.policies[of]
	if !known {
		a = r.readPolicies(ctx, of)
		if ctx.Err() == nil {
			r.policies[of] = a
		}
	}
	return a
}

func (r *Registry) readPolicies(ctx context.Context, of schema.GroupResource) (a applied) {
	configs, err := r.source.List(ctx, of)
	if err != nil {
		return applied{unread: []string{unlisted(of, err)}}
	}
	if len(configs) == 0 {
		return applied{}
	}
	bindings, err := r.source.List(ctx, Bindings(of))
	if err != nil {
		return applied{unread: []string{unlisted(Bindings(of), err)}}
	}
	a.named = map[string]bool{}
	for _, config := range configs {
		p, err := ParsePolicy(config)
		if err != nil {
			a.unread = append(a.unread, err.Error())
			continue
		}
		a.note(p.MatchConstraints)
		a.policies = append(a.policies, p)
	}
	for _, o := range bindings {
		var b binding
		spec, _, _ := unstructured.NestedMap(o.Object, "spec")
		if runtime.DefaultUnstructuredConverter.FromUnstructured(spec, &b.ValidatingAdmissionPolicyBindingSpec) == nil {
			a.note(b.MatchResources)
			a.bindings = append(a.bindings, b)
		}
	}
	return a
}

// constrains reports whether a write may be one of those that some constraints name.
func (r *Registry) constrains(ctx context.Context, m *admissionv1.MatchResources, w Write) bool {
	names := func(rule admissionv1.NamedRuleWithOperations) bool {
		return covers(rule.RuleWithOperations, m.MatchPolicy, w) &&
			(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, w.Object.GetName()))
	}
	if slices.ContainsFunc(m.ExcludeResourceRules, names) || len(m.ResourceRules) > 0 &&
		!slices.ContainsFunc(m.ResourceRules, names) {
		return false
	}
	return r.selected(ctx, m.ObjectSelector, m.NamespaceSelector, w) != Never
}

// Place is what it depends on who may refuse a write of which only an outline is known: the type and
// the namespace of the object, and its name, if a validating policy names it.
type Place struct {
	Type            graph.Type
	Namespace, Name string
}

// Place returns that of a write.
func (r *Registry) Place(ctx context.Context, w Write) Place {
	at := Place{Type: w.Type, Namespace: w.Object.GetNamespace()}
	if name := w.Object.GetName(); r.applied(ctx, ValidatingPolicies).named[name] {
		at.Name = name
	}
	return at
}

// MayRefuse reports whether a webhook or a validating policy may refuse a write.
func (r *Registry) MayRefuse(ctx context.Context, w Write) bool {
	hooks, _ := r.Webhooks(ctx)
	if slices.ContainsFunc(hooks, func(h Webhook) bool { return r.Calls(ctx, h, w) != Never }) {
		return true
	}
	policies, _ := r.Policies(ctx, ValidatingPolicies, w)
	return len(policies) > 0
}
