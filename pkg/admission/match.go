package admission

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Match says whether the server calls something for a write.
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

// covers says whether a rule names a write. With matchPolicy Equivalent, the default, the server
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
		return (resource == "*" || resource == w.Type.Resource) && (subresource == "" || subresource == "*" || w.subresources)
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

// String names the operation and the type, as in "UPDATE of widgets.example.com".
func (w Write) String() string {
	return fmt.Sprintf("%s of %s", w.Operation, schema.GroupResource{Group: w.Type.Group, Resource: w.Type.Resource})
}
