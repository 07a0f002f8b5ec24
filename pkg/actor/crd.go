package actor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

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
				From: place(crd, "metadata.ownerReferences")})
		case status.Nested(o, "spec", "desiredState") == "Inactive":
			s.add(Sign{Life: Unknown, Says: title(o) + " is not active", From: place(o, "spec.desiredState")})
		default:
			if c, ok := status.Find(o, "Healthy"); ok && c.Status != "True" {
				s.add(Sign{Life: Unknown, Says: fmt.Sprintf("%s is not healthy: %s", title(o), phrase.Sentence(c.Message)),
					From: place(o, "status.conditions")})
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

// ownedBy says whether one of the owners of a CustomResourceDefinition owns a workload, or runs it.
func ownedBy(w cluster.Workload, owners []metav1.OwnerReference) bool {
	return slices.ContainsFunc(owners, func(owner metav1.OwnerReference) bool {
		return owner.Kind == "ProviderRevision" &&
			(w.Labels[revisionLabel] == owner.Name || w.PodLabels[revisionLabel] == owner.Name) ||
			slices.ContainsFunc(w.Owners, func(of metav1.OwnerReference) bool { return of.UID == owner.UID })
	})
}

// comesWith says whether a workload and a CustomResourceDefinition were installed together.
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
