package protect

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// Stored returns what the policies of a cluster deny, of those that this package wrote; none if they
// or their bindings cannot be listed. The error is the end of ctx.
func Stored(ctx context.Context, reader *cluster.Reader) ([]Denial, error) {
	policies, err := reader.ListObjects(ctx, admission.ValidatingPolicies, "", cluster.Selection{})
	var all []Denial
	for _, o := range policies {
		if d, ok := Read(o); ok {
			all = append(all, d)
		}
	}
	if err != nil || len(all) == 0 {
		return nil, context.Cause(ctx)
	}
	bindings, err := reader.ListObjects(ctx, admission.Bindings(admission.ValidatingPolicies), "", cluster.Selection{})
	if err != nil {
		return nil, context.Cause(ctx)
	}
	for i := range all {
		all[i].Applied = slices.ContainsFunc(bindings, all[i].isAppliedBy)
	}
	return all, nil
}

// isAppliedBy says whether a binding applies the policy to all that it is about, and denies.
func (d Denial) isAppliedBy(binding *unstructured.Unstructured) bool {
	name, _, _ := unstructured.NestedString(binding.Object, "spec", "policyName")
	actions, _, _ := unstructured.NestedStringSlice(binding.Object, "spec", "validationActions")
	_, narrows, _ := unstructured.NestedMap(binding.Object, "spec", "matchResources")
	return name == d.Policy && !narrows && slices.Contains(actions, string(admissionv1.Deny))
}
