package cluster

import (
	"context"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

var (
	mutatingWebhooks = graph.Type{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration"}
	mutatingPolicies = graph.Type{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicies", Kind: "MutatingAdmissionPolicy"}

	// policyVersions are those in which mutating policies are served: v1 from 1.36 on, before that another if it is turned on. What is read of them is
	// the same in all of them.
	policyVersions = []string{"v1", "v1beta1", "v1alpha1"}
)

// Mutators names what may change an update of a type before it is stored, sorted: webhooks as configuration/webhook, and policies by their names
// (API-033). Namespaces and conditions that a webhook or policy is restricted to are not looked at, so it is a list of suspects. What cannot be
// read is not in it.
func (c *Client) Mutators(ctx context.Context, t graph.Type) []string {
	var names []string
	c.forEachReadable(ctx, mutatingWebhooks, func(o *unstructured.Unstructured) {
		var configuration admissionv1.MutatingWebhookConfiguration
		if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &configuration) != nil {
			return
		}
		for _, w := range configuration.Webhooks {
			if slices.ContainsFunc(w.Rules, func(r admissionv1.RuleWithOperations) bool { return aboutUpdates(r, t) }) {
				names = append(names, o.GetName()+"/"+w.Name)
			}
		}
	})
	mutating := func(o *unstructured.Unstructured) {
		var policy admissionv1.MutatingAdmissionPolicy
		if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &policy) != nil || policy.Spec.MatchConstraints == nil {
			return
		}
		about := func(r admissionv1.NamedRuleWithOperations) bool { return aboutUpdates(r.RuleWithOperations, t) }
		if slices.ContainsFunc(policy.Spec.MatchConstraints.ResourceRules, about) {
			names = append(names, o.GetName())
		}
	}
	for _, version := range policyVersions {
		t := mutatingPolicies
		t.Version = version
		if c.forEachReadable(ctx, t, mutating) {
			break
		}
	}
	slices.Sort(names)
	return names
}

// forEachReadable reads the objects of a type of which there are few, and says whether they can be read.
func (c *Client) forEachReadable(ctx context.Context, t graph.Type, f func(*unstructured.Unstructured)) bool {
	all, err := c.ListObjects(ctx, t, "", Selection{})
	if err != nil {
		return false
	}
	for _, o := range all {
		f(o)
	}
	return true
}

// aboutUpdates says whether a rule is about updates of a type. One that names another version of it counts too: by default webhooks and policies
// are called for all versions.
func aboutUpdates(r admissionv1.RuleWithOperations, t graph.Type) bool {
	one := func(list []string, wanted string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return s == wanted || s == "*" })
	}
	resources := make([]string, len(r.Resources))
	for i, pattern := range r.Resources {
		resources[i], _, _ = strings.Cut(pattern, "/") // a subresource's updates are the object's
	}
	updates := slices.Contains(r.Operations, admissionv1.Update) || slices.Contains(r.Operations, admissionv1.OperationAll)
	return updates && one(r.APIGroups, t.Group) && one(resources, t.Resource)
}
