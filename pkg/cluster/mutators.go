package cluster

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

var (
	mutatingWebhooks = graph.Type{Group: "admissionregistration.k8s.io", Version: "v1",
		Resource: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration"}
	mutatingPolicies = graph.Type{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicies",
		Kind: "MutatingAdmissionPolicy"}

	// policyVersions are those in which mutating policies are served: v1 from 1.36 on, before that
	// another if it is turned on. What is read of them is the same in all of them.
	policyVersions = []string{"v1", "v1beta1", "v1alpha1"}
)

// Mutators names what may change an update of a type before it is stored, sorted: webhooks as
// configuration/webhook, and policies by their names (API-033). Namespaces and conditions that a
// webhook or policy is restricted to are not looked at, so it is a list of suspects. What cannot be
// read is not in it.
func (c *Client) Mutators(ctx context.Context, t graph.Type) []string {
	var names []string
	c.forEachReadable(ctx, mutatingWebhooks, func(o *unstructured.Unstructured) {
		hooks, _ := admission.Webhooks(o)
		for _, h := range hooks {
			if h.Covers(admissionv1.Update, t) {
				names = append(names, o.GetName()+"/"+h.Name)
			}
		}
	})
	mutating := func(o *unstructured.Unstructured) {
		if p, err := admission.ParsePolicy(o); err == nil && p.Covers(admissionv1.Update, t) {
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

// forEachReadable reads the objects of a type of which there are few, and says whether they can be
// read.
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
