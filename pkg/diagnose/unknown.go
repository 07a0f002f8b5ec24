package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// unknown looks for whoever takes off a finalizer that no pack knows: who has written it, and what in the cluster has to do with its domain.
func (a *Actors) unknown(ctx context.Context, o *unstructured.Unstructured, actor *Actor) {
	var s signs
	for _, w := range writers(o, actor.Finalizer) {
		at := ""
		if !w.At.IsZero() {
			at = fmt.Sprintf(" %s ago", ago(a.now().Sub(w.At)))
		}
		actor.Evidence = append(actor.Evidence, fmt.Sprintf("field manager %q wrote it%s", w.Manager, at))
		if anybody(w.Manager) {
			continue
		}
		if actor.Who == "" {
			actor.Who = w.Manager
		}
		a.called(ctx, &s, w.Manager)
	}
	if domain, _, ok := strings.Cut(actor.Finalizer, "/"); ok && strings.Contains(domain, ".") {
		a.domain(ctx, &s, actor, domain)
		actor.Evidence = append(actor.Evidence, a.namesakes(ctx, domain)...)
	}
	actor.add(s)
}

// anybody says whether a field manager's name says nothing of who it is: those of people's tools, and those that programs have without being
// given one.
func anybody(manager string) bool {
	return strings.HasPrefix(manager, "kubectl") || slices.Contains([]string{
		"manager", "controller", "operator", "main", "Go-http-client", "before-first-apply", "unknown", "Mozilla", "curl", "node-fetch", "python-requests", "helm", "k9s", "__debug_bin",
	}, manager)
}

// called looks for workloads that are called like a field manager: as a program, it is named after its binary, and so, often, is its Deployment.
func (a *Actors) called(ctx context.Context, s *signs, manager string) {
	for _, resource := range []schema.GroupResource{deployments, statefulSets, daemonSets} {
		a.workload(ctx, s, resource, "*/"+manager)
	}
	s.absent = nil // most are called something else
}

// domain looks for what has to do with the domain of a finalizer: the Lease of a leader (controller-runtime's end with the domain), and the
// CustomResourceDefinitions of the group with what converts them, which the same operator serves.
func (a *Actors) domain(ctx context.Context, s *signs, actor *Actor, domain string) {
	all, err := a.source.list(ctx, leases, "", cluster.Selection{})
	if err != nil {
		s.unread = append(s.unread, fmt.Sprintf("leases cannot be listed: %v", err))
	}
	for _, lease := range all {
		if name := lease.GetName(); name == domain || strings.HasSuffix(name, "."+domain) {
			a.held(s, lease)
		}
	}
	crds, err := a.source.list(ctx, definitions, "", cluster.Selection{})
	if err != nil {
		s.unread = append(s.unread, fmt.Sprintf("CustomResourceDefinitions cannot be listed: %v", err))
	}
	var of []string
	groups := map[string]bool{domain: true}
	for _, crd := range crds {
		group := nested(crd, "spec", "group")
		if group != domain && !strings.HasSuffix(domain, "."+group) {
			continue
		}
		groups[group] = true
		of = append(of, crd.GetName())
		a.serves(ctx, s, nested(crd, "spec", "conversion", "webhook", "clientConfig", "service", "namespace"),
			nested(crd, "spec", "conversion", "webhook", "clientConfig", "service", "name"), "converts "+crd.GetName())
	}
	a.admits(ctx, s, groups)
	if len(of) > 0 {
		actor.Evidence = append(actor.Evidence, fmt.Sprintf("its domain is that of CustomResourceDefinition %s", joinAnd(of)))
	}
}

// serves says whether a Service that an operator serves has ready endpoints. It is not looked for without a name.
func (a *Actors) serves(ctx context.Context, s *signs, namespace, name, what string) {
	if name == "" {
		return
	}
	switch b := a.source.backend(ctx, namespace, name); {
	case b.down:
		s.dead = append(s.dead, fmt.Sprintf("%s, which %s", b.why, what))
	case b.why == "":
		s.alive = append(s.alive, fmt.Sprintf("Service %s/%s, which %s, has ready endpoints", namespace, name, what))
	}
}

// admits looks at the webhooks that are called for nothing but some groups: their operator serves them.
func (a *Actors) admits(ctx context.Context, s *signs, groups map[string]bool) {
	for _, resource := range []schema.GroupResource{validatingWebhooks, mutatingWebhooks} {
		configs, err := a.source.list(ctx, resource, "", cluster.Selection{})
		if err != nil {
			s.unread = append(s.unread, fmt.Sprintf("%s cannot be listed: %v", resource.Resource, err))
			continue
		}
		for _, config := range configs {
			if !onlyFor(config, groups) {
				continue
			}
			for _, service := range webhookServices(config) {
				a.serves(ctx, s, service[0], service[1], "admits its objects")
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
