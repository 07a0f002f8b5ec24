package unfinalize

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// blame says who put finalizers back, as far as it can be known.
func (p *performer) blame(ctx context.Context, o *Outcome, now *unstructured.Unstructured, back []Held) []PutBack {
	var all []PutBack
	var webhooks []string
	for _, h := range back {
		b := PutBack{Held: h, InRequest: o.answered[h]}
		switch {
		case o.asked[h]:
			b.Ignored = true
		case b.InRequest:
			if webhooks == nil {
				webhooks = mutating(ctx, p.client, o.Case.Type)
			}
			b.Webhooks = webhooks // and who managed it before says nothing of who has put it back
		case h.Field == finalizer.InMetadata:
			b.Manager, b.Time = diagnose.LastWriter(now, h.Name)
		}
		all = append(all, b)
	}
	return all
}

var mutatingWebhooks = graph.Type{
	Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration",
}

// mutating names the webhooks that may change an update of a type: configuration/webhook. It is empty if they cannot be read.
func mutating(ctx context.Context, client *cluster.Client, t graph.Type) []string {
	configurations, err := client.Names(ctx, mutatingWebhooks, "")
	if err != nil {
		return nil
	}
	var webhooks []string
	for _, name := range configurations {
		o, err := client.GetWhole(ctx, mutatingWebhooks, "", name)
		if err != nil {
			continue
		}
		var c admissionv1.MutatingWebhookConfiguration
		if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &c) != nil {
			continue
		}
		for _, w := range c.Webhooks {
			if slices.ContainsFunc(w.Rules, func(r admissionv1.RuleWithOperations) bool { return covers(r, t) }) {
				webhooks = append(webhooks, name+"/"+w.Name)
			}
		}
	}
	slices.Sort(webhooks)
	return webhooks
}

// covers says whether a rule is about updates of a type. One that is about another version of it counts too: by default webhooks are called for
// all versions.
func covers(r admissionv1.RuleWithOperations, t graph.Type) bool {
	any := func(list []string, wanted ...string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return slices.Contains(append(wanted, "*", "*/*"), s) })
	}
	operations := make([]string, len(r.Operations))
	for i, o := range r.Operations {
		operations[i] = string(o)
	}
	gr := schema.GroupResource{Group: t.Group, Resource: t.Resource}
	return any(operations, "UPDATE") && any(r.APIGroups, gr.Group) && any(r.Resources, gr.Resource)
}
