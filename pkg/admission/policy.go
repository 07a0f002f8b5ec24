package admission

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Policy is a ValidatingAdmissionPolicy or a MutatingAdmissionPolicy. Both have the fields that are
// read here.
type Policy struct {
	admissionv1.ValidatingAdmissionPolicySpec
	Config *unstructured.Unstructured
	// ByWho says that an expression of it depends on who asks.
	ByWho bool
}

// ParsePolicy returns the policy that an object is. The error is that it cannot be understood.
func ParsePolicy(config *unstructured.Unstructured) (Policy, error) {
	p := Policy{Config: config}
	spec, _, _ := unstructured.NestedMap(config.Object, "spec")
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(spec, &p.ValidatingAdmissionPolicySpec); err != nil {
		return p, fmt.Errorf("%s cannot be understood: %w", p, err)
	}
	p.ByWho = AsksWho(spec)
	return p, nil
}

// String names the policy as a sentence does.
func (p Policy) String() string {
	return fmt.Sprintf("%s %s", p.Config.GetKind(), p.Config.GetName())
}

// Covers reports whether a rule of the policy names an operation on a type or a subresource of it.
func (p Policy) Covers(operation admissionv1.OperationType, t graph.Type) bool {
	return p.MatchConstraints != nil &&
		slices.ContainsFunc(p.MatchConstraints.ResourceRules, func(r admissionv1.NamedRuleWithOperations) bool {
			return covers(r.RuleWithOperations, p.MatchConstraints.MatchPolicy,
				Write{Operation: operation, Type: t, subresources: true})
		})
}

// Bindings is the type of the bindings of a type of policies.
func Bindings(policies schema.GroupResource) schema.GroupResource {
	policies.Resource = strings.TrimSuffix(policies.Resource, "policies") + "policybindings"
	return policies
}

// binding is what applies a policy.
type binding struct {
	admissionv1.ValidatingAdmissionPolicyBindingSpec
}

// of reports whether the binding applies a policy; of one that validates, whether it denies.
func (b binding) of(p Policy) bool {
	return b.PolicyName == p.Config.GetName() &&
		(len(b.ValidationActions) == 0 || slices.Contains(b.ValidationActions, admissionv1.Deny))
}

// AsksWho reports whether an expression in a value depends on who asks.
func AsksWho(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.Contains(v, "request.userInfo") || strings.Contains(v, "authorizer.")
	case []any:
		return slices.ContainsFunc(v, AsksWho)
	case map[string]any:
		for _, item := range v {
			if AsksWho(item) {
				return true
			}
		}
	}
	return false
}
