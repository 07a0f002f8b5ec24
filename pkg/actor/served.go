package actor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// served looks behind the APIServices and webhooks that the pack names.
func (s *search) served(ctx context.Context) {
	for _, name := range s.alive.APIServices {
		s.apiService(ctx, name)
	}
	for _, name := range s.alive.Webhooks {
		s.webhook(ctx, name)
	}
}

// apiService looks at an APIService that a component serves. Groups of Kubernetes, as
// external.metrics.k8s.io, may be served by anybody.
func (s *search) apiService(ctx context.Context, name string) {
	o, err := s.reader.GetObject(ctx, cluster.APIServices, "", name)
	if err != nil {
		s.missed("APIService %s cannot be read: %v", name, err)
		return
	}
	s.seek("Service behind APIService " + name)
	if o == nil {
		return
	}
	service, _ := admission.APIService(o)
	if strings.HasSuffix(status.Nested(o, "spec", "group"), ".k8s.io") {
		s.add(Sign{Life: Unknown, Says: fmt.Sprintf("Service %s/%s serves APIService %s, and may be another program's",
			service.Namespace, service.Name, name), From: cluster.Place(o, "spec.service")})
		return
	}
	s.serves(ctx, service, "serves APIService "+name)
}

// webhook looks at what answers the webhooks of a configuration that a component serves.
func (s *search) webhook(ctx context.Context, name string) {
	complete := true
	for _, resource := range []schema.GroupResource{admission.ValidatingWebhooks, admission.MutatingWebhooks} {
		o, err := s.reader.GetObject(ctx, resource, "", name)
		if err != nil {
			complete = false
			s.missed("%s %s cannot be read: %v", resource.Resource, name, err)
			continue
		}
		if o != nil {
			hooks, _ := admission.Webhooks(o)
			s.servesAll(ctx, hooks, fmt.Sprintf("answers %s %s", o.GetKind(), name))
		}
	}
	if complete {
		s.seek("Service behind webhook configuration " + name)
	}
}

// servesAll looks at the Services that webhooks call, at each once.
func (s *search) servesAll(ctx context.Context, hooks []admission.Webhook, what string) {
	seen := map[admission.Service]bool{}
	for _, h := range hooks {
		if service := h.Service(); !seen[service] {
			seen[service] = true
			s.serves(ctx, service, what)
		}
	}
}

// serves looks at the endpoints of a Service, and at the workloads that it selects. That there is
// no endpoint is no witness, but one of these workloads may be one. It is not looked for without a
// name.
func (s *search) serves(ctx context.Context, of admission.Service, what string) {
	namespace, name := of.Namespace, of.Name
	if name == "" || !s.belongs(namespace, s.about.GetLabels()) {
		return
	}
	from := fmt.Sprintf("Service %s/%s", namespace, name)
	b := BackendOf(ctx, s.reader, namespace, name)
	switch {
	case b.Down:
		s.add(Sign{Life: Unknown, Says: fmt.Sprintf("%s, which %s", b.Why, what), From: from})
	case b.Why != "":
		s.missed("%s", b.Why)
		return
	default:
		s.add(Sign{Life: Alive, Says: fmt.Sprintf("%s, which %s, has ready endpoints", from, what), From: from})
	}
	service, err := s.reader.GetObject(ctx, cluster.Services, namespace, name)
	if err != nil || service == nil {
		return
	}
	s.found = true
	selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	if len(selector) == 0 {
		return
	}
	for _, t := range workloadTypes {
		all, err := s.reader.ListObjects(ctx, t.resource, namespace, cluster.Selection{})
		if err != nil {
			s.missed("%s in %s cannot be listed: %v", t.resource, namespace, err)
		}
		for _, o := range all {
			if labels.SelectorFromSet(selector).Matches(labels.Set(labelsOf(o)[1])) {
				s.workload(ctx, o)
			}
		}
	}
}

// Backend is what stands behind a Service that the API server calls.
type Backend struct {
	Namespace, Name string
	// Down says that nothing can answer, and Why what is missing. Why without Down is that it could
	// not be found out.
	Down bool
	Why  string
}

// BackendOf looks whether a Service has an endpoint that is ready.
func BackendOf(ctx context.Context, r *cluster.Reader, namespace, name string) Backend {
	b := Backend{Namespace: namespace, Name: name}
	service, err := r.GetObject(ctx, cluster.Services, namespace, name)
	switch {
	case err != nil:
		b.Why = fmt.Sprintf("Service %s/%s cannot be read: %v", namespace, name, err)
		return b
	case service == nil:
		b.Down, b.Why = true, fmt.Sprintf("Service %s/%s does not exist", namespace, name)
		return b
	}
	if kind := status.Nested(service, "spec", "type"); kind == "ExternalName" {
		b.Why = fmt.Sprintf("Service %s/%s is a name outside the cluster", namespace, name)
		return b
	}
	slices, err := r.ListObjects(ctx, cluster.EndpointSlices, namespace,
		cluster.Selection{Labels: "kubernetes.io/service-name=" + name})
	for _, slice := range slices {
		if answers(slice) {
			return b
		}
	}
	if err != nil {
		b.Why = fmt.Sprintf("the endpoints of Service %s/%s cannot be listed: %v", namespace, name, err)
		return b
	}
	b.Down, b.Why = true, fmt.Sprintf("Service %s/%s has no ready endpoints", namespace, name)
	return b
}

// answers reports whether an EndpointSlice has an endpoint that takes connections; one whose
// condition is not set does.
func answers(slice *unstructured.Unstructured) bool {
	list, _, _ := unstructured.NestedSlice(slice.Object, "endpoints")
	for _, item := range list {
		m, _ := item.(map[string]any)
		state, said, _ := unstructured.NestedBool(m, "conditions", "ready")
		addresses, _, _ := unstructured.NestedStringSlice(m, "addresses")
		if len(addresses) > 0 && (!said || state) {
			return true
		}
	}
	return false
}

var (
	providerRevisions = schema.GroupResource{Group: "pkg.crossplane.io", Resource: "providerrevisions"}
	serviceVersions   = schema.GroupResource{Group: "operators.coreos.com", Resource: "clusterserviceversions"}
)

// What is put on a CustomResourceDefinition and on the workloads that come with it.
const (
	revisionLabel  = "pkg.crossplane.io/revision" // of a workload: the ProviderRevision
	olmOwner       = "olm.owner"                  // of a workload: the ClusterServiceVersion
	olmPackages    = "operators.coreos.com/"      // of everything that comes with an operator: a key of its own
	providerLabel  = "cluster.x-k8s.io/provider"  // of everything that comes with a provider of Cluster API
	releaseName    = "meta.helm.sh/release-name"  // annotations of everything that comes with a Helm release
	releaseContext = "meta.helm.sh/release-namespace"
)

// byCRD finds the component through the CustomResourceDefinition of the object's type: who
// installed that, installed the component, too.
func (s *search) byCRD(ctx context.Context) {
	crd := s.crd(ctx)
	if crd == nil {
		return
	}
	owners, packages := s.owners(ctx, crd), keysOf(crd, olmPackages)
	versions := s.versions(ctx, packages)
	var all []alike
	for _, t := range workloadTypes {
		workloads, err := s.reader.Workloads(ctx, t.resource)
		if err != nil {
			s.missed("%s cannot be listed in all namespaces: %v", t.resource, err)
		}
		for _, w := range workloads {
			if s.belongs(w.Namespace, w.Labels, w.PodLabels) &&
				(ownedBy(w, owners) || slices.Contains(versions, w.Labels[olmOwner]) || comesWith(w, crd, packages)) {
				all = append(all, alike{w, byName})
			}
		}
	}
	s.seek(fmt.Sprintf("workload that came with CustomResourceDefinition %s", crd.GetName()))
	s.parts(ctx, all[:min(len(all), maxAlike)])
}

// crd reads the CustomResourceDefinition of the object's type, nil if there is none.
func (s *search) crd(ctx context.Context) *unstructured.Unstructured {
	t, ok := s.reader.Kind(s.about.GetAPIVersion(), s.about.GetKind())
	if !ok || t.Group == "" {
		return nil
	}
	o, err := s.reader.GetObject(ctx, cluster.CRDs, "", t.Resource+"."+t.Group)
	if err != nil {
		s.missed("CustomResourceDefinition %s.%s cannot be read: %v", t.Resource, t.Group, err)
	}
	return o
}

// owners returns the owners of a CustomResourceDefinition, and says what they say of themselves: a
// ProviderRevision that is not active has no workload.
func (s *search) owners(ctx context.Context, crd *unstructured.Unstructured) []metav1.OwnerReference {
	owners := crd.GetOwnerReferences()
	for _, owner := range owners {
		if owner.Kind != "ProviderRevision" {
			continue
		}
		o, err := s.reader.GetObject(ctx, providerRevisions, "", owner.Name)
		switch {
		case err != nil:
			s.missed("ProviderRevision %s cannot be read: %v", owner.Name, err)
		case o == nil:
			s.add(Sign{Life: Unknown, Says: fmt.Sprintf(
				"ProviderRevision %s, which owns its CustomResourceDefinition, does not exist", owner.Name),
				From: cluster.Place(crd, "metadata.ownerReferences")})
		case status.Nested(o, "spec", "desiredState") == "Inactive":
			s.add(Sign{Life: Unknown, Says: cluster.Located(o) + " is not active", From: cluster.Place(o, "spec.desiredState")})
		default:
			if c, ok := status.Find(o, "Healthy"); ok && c.Status != "True" {
				s.add(Sign{Life: Unknown, Says: fmt.Sprintf("%s is not healthy: %s", cluster.Located(o), phrase.Sentence(c.Message)),
					From: cluster.Place(o, "status.conditions")})
			}
		}
	}
	return owners
}

// versions returns the names of the ClusterServiceVersions that come with packages of OLM.
func (s *search) versions(ctx context.Context, packages []string) []string {
	var names []string
	for _, key := range packages {
		all, err := s.reader.ListObjects(ctx, serviceVersions, "", cluster.Selection{Labels: key})
		if err != nil {
			s.missed("ClusterServiceVersions cannot be listed: %v", err)
		}
		for _, o := range all {
			names = append(names, o.GetName())
		}
	}
	return names
}

// ownedBy reports whether one of the owners of a CustomResourceDefinition owns a workload, or runs
// it.
func ownedBy(w cluster.Workload, owners []metav1.OwnerReference) bool {
	return slices.ContainsFunc(owners, func(owner metav1.OwnerReference) bool {
		return owner.Kind == "ProviderRevision" &&
			(w.Labels[revisionLabel] == owner.Name || w.PodLabels[revisionLabel] == owner.Name) ||
			slices.ContainsFunc(w.Owners, func(of metav1.OwnerReference) bool { return of.UID == owner.UID })
	})
}

// comesWith reports whether a workload and a CustomResourceDefinition were installed together.
func comesWith(w cluster.Workload, crd *unstructured.Unstructured, packages []string) bool {
	if slices.ContainsFunc(packages, func(key string) bool { _, has := w.Labels[key]; return has }) {
		return true
	}
	if provider := crd.GetLabels()[providerLabel]; provider != "" {
		return w.Labels[providerLabel] == provider
	}
	release := crd.GetAnnotations()[releaseName]
	return release != "" && w.Annotations[releaseName] == release &&
		w.Annotations[releaseContext] == crd.GetAnnotations()[releaseContext]
}

// keysOf returns the keys of an object's labels with a prefix.
func keysOf(o *unstructured.Unstructured, prefix string) []string {
	var keys []string
	for key := range o.GetLabels() {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
