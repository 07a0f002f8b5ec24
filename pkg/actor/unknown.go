package actor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
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
	actor.Who = WrittenBy(o, actor.Finalizer)
	for _, w := range cluster.Writers(o, cluster.FinalizerPath(actor.Finalizer)) {
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
		if isProgram(w.Manager) {
			s.called(ctx, w.Manager)
		}
	}
	if domain, _, ok := strings.Cut(actor.Finalizer, "/"); ok && strings.Contains(domain, ".") {
		s.domain(ctx, actor, domain)
		says, only := f.namesakes(ctx, o, domain, actor.Finalizer)
		actor.note(says...)
		actor.Namesake = only
	}
	actor.take(s.signs)
	if !actor.Found {
		actor.Evidence = append(actor.Evidence, f.leaders(ctx, o, actor.Finalizer)...)
	}
}

// WrittenBy is the field manager of the program that has put a finalizer on an object; empty if
// none is named.
func WrittenBy(o *unstructured.Unstructured, finalizer string) string {
	for _, w := range cluster.Writers(o, cluster.FinalizerPath(finalizer)) {
		if isProgram(w.Manager) && !applies(o, w.Manager) {
			return w.Manager
		}
	}
	return ""
}

// isProgram reports whether a field manager is called like one program, and not like a tool or like
// many.
func isProgram(manager string) bool { return !generic(manager) && !begins(clients, manager) }

// ofProject is the name of the Lease that an operator takes which kubebuilder has laid out: a hash and
// the domain of its project (https://github.com/kubernetes-sigs/kubebuilder, LeaderElectionID).
var ofProject = regexp.MustCompile(`^[0-9a-f]{8}\.([^.]+\..+)$`)

// leaders are such Leases of the project whose domain both the finalizer and the API group of an object
// end in. A project can have several operators: it is evidence alone.
func (f *Finder) leaders(ctx context.Context, o *unstructured.Unstructured, finalizer string) (
	seen []v1alpha1.Observation) {
	if cluster.BuiltIn(o.GroupVersionKind().Group) {
		return nil
	}
	domain, _, _ := strings.Cut(finalizer, "/")
	in := func(name, project string) bool { return strings.HasSuffix("."+name, "."+project) }
	all, _ := f.reader.ListObjects(ctx, cluster.Leases, "", cluster.Selection{}) // the reader notes it as a gap
	for _, lease := range all {
		m := ofProject.FindStringSubmatch(lease.GetName())
		if m != nil && in(domain, m[1]) && in(o.GroupVersionKind().Group, m[1]) && len(seen) < phrase.MaxNamed {
			sign := f.readLease(lease)
			seen = append(seen, v1alpha1.Observation{Says: sign.Says + ", and is named after the domain of the finalizer and of the API group", From: sign.From})
		}
	}
	return seen
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

// onlyFor reports whether all rules of the webhooks of a configuration name groups among these.
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

// appliers are field managers that write the manifests of others, by the beginnings of their names,
// in lower case. They put a finalizer where the manifest says so, and do not remove it.
var appliers = []string{
	"argocd", "argo-cd", "kustomize-controller", "helm", "tofu", "terraform", "hashicorp", "pulumi", "kapp", "fleetagent",
	"fleet-agent", "fleet-cd",
	"rancher-fleet", "ansible", "skaffold", "tilt", "werf", "cdk8s", "config-sync", "configsync",
	"applier.configmanagement", "porch", "spinnaker", "kustomize", "flux",
}

// clients are the names of people's tools, and those that a program has that was not given one.
var clients = []string{
	"kubectl", "oc", "openapi-generator", "okhttp", "kubernetes-client", "fabric8", "node-fetch", "axios", "unirest",
	"python-requests", "python-urllib", "go-http-client", "kubernetesjavascriptclient",
	"mozilla", "curl", "wget", "postman", "before-first-apply", "unknown", "k9s", "lens", "headlamp", "dashboard",
	"__debug_bin", "exe",
}

// applies reports whether a field manager writes what others want: by its name, or since it has
// applied more of the object than its finalizers. An actor writes the finalizer and the status.
func applies(o *unstructured.Unstructured, manager string) bool {
	if begins(appliers, manager) {
		return true
	}
	for m := range cluster.ManagedFields(o) {
		if m.Manager == manager && m.Operation == string(metav1.ManagedFieldsOperationApply) && m.Subresource == "" &&
			writesContent(m.Fields) {
			return true
		}
	}
	return false
}

// begins reports whether a name is one of these, or one of these and more behind a character that
// is no letter.
func begins(names []string, manager string) bool {
	manager = strings.ToLower(manager)
	return slices.ContainsFunc(names, func(name string) bool {
		rest, ok := strings.CutPrefix(manager, name)
		return ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
	})
}

// writesContent returns whether fields of managedFields have anything besides metadata and status.
func writesContent(fields map[string]any) bool {
	for field := range fields {
		if field != "f:metadata" && field != "f:status" {
			return true
		}
	}
	return false
}
