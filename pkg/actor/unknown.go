package actor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// unknown looks for whoever takes off a finalizer that no pack knows: who has written it, and what in the cluster has to do with its domain.
func (f *Finder) unknown(ctx context.Context, o *unstructured.Unstructured, actor *Actor) {
	var s signs
	for _, w := range writers(o, actor.Finalizer) {
		at := ""
		if !w.At.IsZero() {
			at = fmt.Sprintf(" %s ago", phrase.Ago(f.now().Sub(w.At)))
		}
		actor.note(fmt.Sprintf("field manager %q wrote it%s", w.Manager, at))
		if anybody(w.Manager) {
			continue
		}
		if actor.Who == "" {
			actor.Who = w.Manager
		}
		f.called(ctx, &s, w.Manager)
	}
	if domain, _, ok := strings.Cut(actor.Finalizer, "/"); ok && strings.Contains(domain, ".") {
		f.domain(ctx, &s, actor, domain)
		actor.note(f.namesakes(ctx, domain)...)
	}
	actor.take(s)
}

// anybody says whether a field manager's name says nothing of who it is: those of people's tools, and those that programs have without being
// given one.
func anybody(manager string) bool {
	return strings.HasPrefix(manager, "kubectl") || slices.Contains([]string{
		"manager", "controller", "operator", "main", "Go-http-client", "before-first-apply", "unknown", "Mozilla", "curl", "node-fetch", "python-requests", "helm", "k9s", "__debug_bin",
	}, manager)
}

// called looks for workloads that are called like a field manager: as a program, it is named after its binary, and so, often, is its Deployment.
func (f *Finder) called(ctx context.Context, s *signs, manager string) {
	for _, resource := range []schema.GroupResource{cluster.Deployments, cluster.StatefulSets, cluster.DaemonSets} {
		f.workload(ctx, s, resource, "*/"+manager)
	}
	s.searched = nil // most are called something else
}

// domain looks for what has to do with the domain of a finalizer: the Lease of a leader (controller-runtime's end with the domain), and the
// CustomResourceDefinitions of the group with what converts them, which the same operator serves.
func (f *Finder) domain(ctx context.Context, s *signs, actor *Actor, domain string) {
	all, err := f.reader.List(ctx, cluster.Leases, "", cluster.Selection{})
	if err != nil {
		s.missed("leases cannot be listed: %v", err)
	}
	for _, lease := range all {
		if name := lease.GetName(); name == domain || strings.HasSuffix(name, "."+domain) {
			f.held(s, lease)
		}
	}
	crds, err := f.reader.List(ctx, cluster.CRDs, "", cluster.Selection{})
	if err != nil {
		s.missed("CustomResourceDefinitions cannot be listed: %v", err)
	}
	var of []string
	groups := map[string]bool{domain: true}
	for _, crd := range crds {
		group := status.Nested(crd, "spec", "group")
		if group != domain && !strings.HasSuffix(domain, "."+group) {
			continue
		}
		groups[group] = true
		of = append(of, crd.GetName())
		f.serves(ctx, s, status.Nested(crd, "spec", "conversion", "webhook", "clientConfig", "service", "namespace"),
			status.Nested(crd, "spec", "conversion", "webhook", "clientConfig", "service", "name"), "converts "+crd.GetName())
	}
	f.admits(ctx, s, groups)
	if len(of) > 0 {
		actor.note(fmt.Sprintf("its domain is that of CustomResourceDefinition %s", phrase.And(of)))
	}
}

// admits looks at the webhooks that are called for nothing but some groups: their operator serves them.
func (f *Finder) admits(ctx context.Context, s *signs, groups map[string]bool) {
	for _, resource := range []schema.GroupResource{cluster.ValidatingWebhooks, cluster.MutatingWebhooks} {
		configs, err := f.reader.List(ctx, resource, "", cluster.Selection{})
		if err != nil {
			s.missed("%s cannot be listed: %v", resource.Resource, err)
			continue
		}
		for _, config := range configs {
			if !onlyFor(config, groups) {
				continue
			}
			for _, service := range webhookServices(config) {
				f.serves(ctx, s, service[0], service[1], "admits its objects")
			}
		}
	}
}

// onlyFor says whether all rules of a webhook configuration name groups among these.
func onlyFor(config *unstructured.Unstructured, groups map[string]bool) bool {
	hooks, _, _ := unstructured.NestedSlice(config.Object, "webhooks")
	rules := 0
	for _, hook := range hooks {
		m, _ := hook.(map[string]any)
		list, _, _ := unstructured.NestedSlice(m, "rules")
		for _, item := range list {
			rule, _ := item.(map[string]any)
			names, _, _ := unstructured.NestedStringSlice(rule, "apiGroups")
			for _, group := range names {
				rules++
				if !groups[group] {
					return false
				}
			}
		}
	}
	return rules > 0
}
