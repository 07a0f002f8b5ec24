package actor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// when says how long ago a finalizer was written. To the second it would set apart objects that
// were written together.
func when(age time.Duration) string {
	if age < 2*time.Minute {
		return "in the last 2 minutes"
	}
	return phrase.Ago(age) + " ago"
}

// unknown looks for whoever removes a finalizer that no pack knows: who has written it, and what in
// the cluster has to do with its domain.
func (f *Finder) unknown(ctx context.Context, o *unstructured.Unstructured, actor *Actor) {
	s := &search{Finder: f, about: o}
	for _, w := range writers(o, actor.Finalizer) {
		at := ""
		if !w.At.IsZero() {
			at = " " + when(f.now().Sub(w.At))
		}
		switch {
		case applies(o, w.Manager):
			actor.noteAt("metadata.managedFields",
				fmt.Sprintf("field manager %q wrote it%s with the manifest, and does not remove it", w.Manager, at))
			continue
		default:
			actor.noteAt("metadata.managedFields", fmt.Sprintf("field manager %q wrote it%s", w.Manager, at))
		}
		if nameless(w.Manager) {
			continue
		}
		if actor.Who == "" {
			actor.Who = w.Manager
		}
		s.called(ctx, w.Manager)
	}
	if domain, _, ok := strings.Cut(actor.Finalizer, "/"); ok && strings.Contains(domain, ".") {
		s.domain(ctx, actor, domain)
		actor.note(f.namesakes(ctx, domain)...)
	}
	actor.take(s.signs)
}

// called looks for workloads that are called like a field manager: as a program, it is named after
// its binary, and so, often, is its Deployment. Those of Flux put something before it.
func (s *search) called(ctx context.Context, manager string) {
	for _, t := range workloadTypes {
		for _, o := range s.named(ctx, t.resource, t.kind, "*/"+strings.TrimPrefix(manager, "gotk-")) {
			s.workload(ctx, o)
		}
	}
	s.searched = nil // most are called something else
}

// domain looks for what has to do with the domain of a finalizer: the Lease of a leader
// (controller-runtime's end with the domain), and the CustomResourceDefinitions of the group with
// what converts them, which the same operator serves.
func (s *search) domain(ctx context.Context, actor *Actor, domain string) {
	all, err := s.reader.ListObjects(ctx, cluster.Leases, "", cluster.Selection{})
	if err != nil {
		s.missed("leases cannot be listed: %v", err)
	}
	for _, lease := range all {
		if name := lease.GetName(); name == domain || strings.HasSuffix(name, "."+domain) {
			s.leads(ctx, lease)
		}
	}
	crds, err := s.reader.ListObjects(ctx, cluster.CRDs, "", cluster.Selection{})
	if err != nil {
		s.missed("CustomResourceDefinitions cannot be listed: %v", err)
	}
	var of []string
	groups := s.groups(domain)
	for _, crd := range crds {
		if !groups[status.Nested(crd, "spec", "group")] {
			continue
		}
		of = append(of, crd.GetName())
		service, _ := admission.Conversion(crd)
		s.serves(ctx, service, "converts "+crd.GetName())
	}
	s.admits(ctx, groups)
	if len(of) > 0 {
		actor.note(fmt.Sprintf("its domain is that of CustomResourceDefinition %s", phrase.And(of)))
	}
}

// groups are the API groups that whoever removes a finalizer of a domain serves: that which is
// called like the domain, and that of the object if one of the two is a part of the other, as
// acme.cert-manager.io is of cert-manager.io. Other groups above the domain are other people's.
func (s *search) groups(domain string) map[string]bool {
	all := map[string]bool{domain: true}
	own := s.about.GroupVersionKind().Group
	if strings.Contains(own, ".") && (strings.HasSuffix(domain, "."+own) || strings.HasSuffix(own, "."+domain)) {
		all[own] = true
	}
	return all
}

// admits looks at the webhooks that are called for nothing but some groups: their operator serves
// them.
func (s *search) admits(ctx context.Context, groups map[string]bool) {
	hooks, unread := s.reader.Admission().Webhooks(ctx)
	for _, missed := range unread {
		s.missed("%s", missed)
	}
	for first, next := 0, 0; first < len(hooks); first = next {
		for next < len(hooks) && hooks[next].Config == hooks[first].Config {
			next++
		}
		if onlyFor(hooks[first:next], groups) {
			s.servesAll(ctx, hooks[first:next], "admits its objects")
		}
	}
}

// onlyFor says whether all rules of the webhooks of a configuration name groups among these.
func onlyFor(hooks []admission.Webhook, groups map[string]bool) bool {
	rules := 0
	for _, h := range hooks {
		for _, rule := range h.Rules {
			rules += len(rule.APIGroups)
			if slices.ContainsFunc(rule.APIGroups, func(group string) bool { return !groups[group] }) {
				return false
			}
		}
	}
	return rules > 0
}
