package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// write is an UPDATE or a DELETE of one object, as admission sees it.
type write struct {
	operation admissionv1.OperationType
	t         graph.Type
	// o is the object as it is stored. An outline has no labels.
	o       *unstructured.Unstructured
	outline bool
}

// words name what is done and the type that it is done to.
func (w write) words() string {
	return fmt.Sprintf("%s of %s", w.operation, schema.GroupResource{Group: w.t.Group, Resource: w.t.Resource})
}

// hook is one webhook of a configuration, of either kind: they have the same fields as far as they are needed.
type hook struct {
	admissionv1.ValidatingWebhook
	config *unstructured.Unstructured
	index  int // among the webhooks of its configuration
}

// key is the same for the same webhook.
func (h hook) key() string {
	return strings.Join([]string{h.config.GetKind(), h.config.GetName(), h.Name}, "/")
}

// mutating says whether the hook may change what it is called about.
func (h hook) mutating() bool { return h.config.GetKind() == "MutatingWebhookConfiguration" }

// fails says whether a write fails when the hook does not answer. That is the default.
func (h hook) fails() bool {
	return h.FailurePolicy == nil || *h.FailurePolicy == admissionv1.Fail
}

// what names a hook as a sentence does.
func (h hook) what() string {
	return fmt.Sprintf("webhook %s of %s %s", h.Name, h.config.GetKind(), h.config.GetName())
}

// hooks returns all webhooks, and what could not be listed.
func (e *examiner) hooks(ctx context.Context) (hooks []hook, unread []string) {
	e.registered.once.Do(func() { e.registered.hooks, e.registered.unread = e.readHooks(ctx) })
	return e.registered.hooks, e.registered.unread
}

// registeredHooks are the webhooks, which are read once.
type registeredHooks struct {
	once   sync.Once
	hooks  []hook
	unread []string
}

func (e *examiner) readHooks(ctx context.Context) (hooks []hook, unread []string) {
	for _, resource := range []schema.GroupResource{cluster.MutatingWebhooks, cluster.ValidatingWebhooks} {
		configs, err := e.reader.ListObjects(ctx, resource, "", cluster.Selection{})
		if err != nil {
			unread = append(unread, fmt.Sprintf("%s cannot be listed: %v", resource.Resource, err))
			continue
		}
		for _, config := range configs {
			var all struct {
				Webhooks []admissionv1.ValidatingWebhook `json:"webhooks"`
			}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(config.Object, &all); err != nil {
				unread = append(unread, fmt.Sprintf("%s %s cannot be understood: %v", config.GetKind(), config.GetName(), err))
				continue
			}
			for i, w := range all.Webhooks {
				hooks = append(hooks, hook{w, config, i})
			}
		}
	}
	return hooks, unread
}

// calls says whether the server calls the hook for a write. A condition of its own, which only the server can evaluate, counts as met, and so does a
// selector of namespaces where the namespace cannot be read.
func (e *examiner) calls(ctx context.Context, h hook, w write) bool {
	if w.t.Group == cluster.ValidatingWebhooks.Group { // those that govern admission are exempt from it
		return false
	}
	if !slices.ContainsFunc(h.Rules, func(r admissionv1.RuleWithOperations) bool { return covers(r, h.MatchPolicy, w) }) {
		return false
	}
	return selects(h.ObjectSelector, w.o.GetLabels()) && e.selectsNamespace(ctx, h.NamespaceSelector, w)
}

// selectsNamespace says whether a selector of namespaces selects that of a write.
func (e *examiner) selectsNamespace(ctx context.Context, selector *metav1.LabelSelector, w write) bool {
	namespace := w.o.GetNamespace()
	switch {
	case isNamespace(w.t):
		return selects(selector, w.o.GetLabels())
	case namespace == "": // other cluster-scoped objects are in none, and the selector leaves none of them out
		return true
	}
	o, err := e.reader.GetObject(ctx, cluster.Namespaces, "", namespace)
	return err != nil || o == nil || selects(selector, o.GetLabels())
}

func isNamespace(t graph.Type) bool {
	return t.Group == "" && t.Resource == cluster.Namespaces.Resource
}

// covers says whether a rule names what is written, and how.
func covers(r admissionv1.RuleWithOperations, policy *admissionv1.MatchPolicyType, w write) bool {
	one := func(list []string, wanted string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, wanted)
	}
	if !slices.Contains(r.Operations, admissionv1.OperationAll) && !slices.Contains(r.Operations, w.operation) || !one(r.APIGroups, w.t.Group) {
		return false
	}
	if exact := policy != nil && *policy == admissionv1.Exact; exact && !one(r.APIVersions, w.t.Version) {
		return false // otherwise the server calls it with another version of the object
	}
	if r.Scope != nil && *r.Scope != admissionv1.AllScopes && (*r.Scope == admissionv1.NamespacedScope) != w.t.Namespaced {
		return false
	}
	return slices.ContainsFunc(r.Resources, func(pattern string) bool {
		resource, sub, _ := strings.Cut(pattern, "/")
		return (resource == "*" || resource == w.t.Resource) && (sub == "" || sub == "*")
	})
}

// selectsAll says whether a selector leaves nothing out, whatever the labels are.
func selectsAll(selector *metav1.LabelSelector) bool {
	return selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0
}

// selects says whether a selector selects; one that is not there, or that nobody understands, leaves nothing out.
func selects(selector *metav1.LabelSelector, of map[string]string) bool {
	if selector == nil {
		return true
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err != nil || s.Matches(labels.Set(of))
}
