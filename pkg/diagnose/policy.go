package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// policy is a ValidatingAdmissionPolicy or a MutatingAdmissionPolicy and a binding through which it is applied: they have the same fields as far as they are needed.
type policy struct {
	admissionv1.ValidatingAdmissionPolicySpec
	config  *unstructured.Unstructured
	binding *unstructured.Unstructured
	// byWho says that an expression of it depends on who asks.
	byWho bool
}

// what names a policy as a sentence does.
func (p policy) what() string {
	return fmt.Sprintf("%s %s", p.config.GetKind(), p.config.GetName())
}

// bindings are the type of the bindings of a type of policies.
func bindings(policies schema.GroupResource) schema.GroupResource {
	policies.Resource = strings.TrimSuffix(policies.Resource, "policies") + "policybindings"
	return policies
}

// policies returns the policies of a type that are applied to a write, each once, and what could not be listed. A policy without a binding is applied to nothing.
// Conditions and parameters, which only the server can evaluate, count as met.
func (e *examiner) policies(ctx context.Context, of schema.GroupResource, w write) (all []policy, unread []string) {
	configs, err := e.reader.ListObjects(ctx, of, "", cluster.Selection{})
	if err != nil {
		return nil, []string{fmt.Sprintf("%s cannot be listed: %v", of.Resource, err)}
	}
	if len(configs) == 0 || w.t.Group == of.Group && strings.Contains(w.t.Resource, "admissionpolic") { // which are exempt from it
		return nil, nil
	}
	bound, err := e.reader.ListObjects(ctx, bindings(of), "", cluster.Selection{})
	if err != nil {
		return nil, []string{fmt.Sprintf("%s cannot be listed: %v", bindings(of).Resource, err)}
	}
	for _, config := range configs {
		p := policy{config: config}
		spec, _, _ := unstructured.NestedMap(config.Object, "spec")
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(spec, &p.ValidatingAdmissionPolicySpec); err != nil {
			unread = append(unread, fmt.Sprintf("%s cannot be understood: %v", p.what(), err))
			continue
		}
		p.byWho = asksWho(spec)
		if p.MatchConstraints == nil || !e.constrains(ctx, p.MatchConstraints, w) {
			continue
		}
		for _, b := range bound {
			if e.binds(ctx, b, p, w) {
				p.binding = b
				all = append(all, p)
				break
			}
		}
	}
	return all, unread
}

// binds says whether a binding applies a policy to a write; of a policy that validates, whether it denies.
func (e *examiner) binds(ctx context.Context, b *unstructured.Unstructured, p policy, w write) bool {
	var spec admissionv1.ValidatingAdmissionPolicyBindingSpec
	raw, _, _ := unstructured.NestedMap(b.Object, "spec")
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &spec); err != nil || spec.PolicyName != p.config.GetName() {
		return false
	}
	if len(spec.ValidationActions) > 0 && !slices.Contains(spec.ValidationActions, admissionv1.Deny) {
		return false
	}
	return spec.MatchResources == nil || e.constrains(ctx, spec.MatchResources, w)
}

// constrains says whether a write is one of those that some constraints name.
func (e *examiner) constrains(ctx context.Context, m *admissionv1.MatchResources, w write) bool {
	names := func(r admissionv1.NamedRuleWithOperations) bool {
		return covers(r.RuleWithOperations, m.MatchPolicy, w) && (len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, w.o.GetName()))
	}
	if slices.ContainsFunc(m.ExcludeResourceRules, names) || len(m.ResourceRules) > 0 && !slices.ContainsFunc(m.ResourceRules, names) {
		return false
	}
	return selects(m.ObjectSelector, w.o.GetLabels()) && e.selectsNamespace(ctx, m.NamespaceSelector, w)
}

// asksWho says whether an expression of a specification depends on who asks.
func asksWho(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.Contains(v, "request.userInfo") || strings.Contains(v, "authorizer.")
	case []any:
		return slices.ContainsFunc(v, asksWho)
	case map[string]any:
		for _, item := range v {
			if asksWho(item) {
				return true
			}
		}
	}
	return false
}
