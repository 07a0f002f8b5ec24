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
	for _, crd := range crds {
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		if group != domain && !strings.HasSuffix(domain, "."+group) {
			continue
		}
		of = append(of, crd.GetName())
		namespace, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "webhook", "clientConfig", "service", "namespace")
		name, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "webhook", "clientConfig", "service", "name")
		if name == "" {
			continue
		}
		if b := a.source.backend(ctx, namespace, name); b.down {
			s.dead = append(s.dead, fmt.Sprintf("%s, which converts %s", b.why, crd.GetName()))
		} else if b.why == "" {
			s.alive = append(s.alive, fmt.Sprintf("Service %s/%s, which converts %s, has ready endpoints", namespace, name, crd.GetName()))
		}
	}
	if len(of) > 0 {
		actor.Evidence = append(actor.Evidence, fmt.Sprintf("its domain is that of CustomResourceDefinition %s", joinAnd(of)))
	}
}
