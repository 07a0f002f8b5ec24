package finalizer_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNamed wants all that answers for some kind, the nearest first, and nothing that never would.
func TestNamed(t *testing.T) {
	r := embedded(t)
	for name, want := range map[string][]string{
		"karpenter.sh/termination":                   {"karpenter"},
		"resources-finalizer.argocd.argoproj.io":     {"argocd-application", "argocd-project", "argocd-applicationset"},
		"external-attacher/ebs-csi-aws-com":          {"external-attacher-ebs"},
		"external-attacher/example-com":              {"external-attacher"},
		"external-attacher/*":                        {"external-attacher"},
		"kubermatic.io/cleanup-azure-vm":             {"kubermatic-azure-vm"},
		"widgets.example.com/finalizer":              {"plural-group"},
		"awscluster.infrastructure.cluster.x-k8s.io": {"capi-infrastructure", "capi-infrastructure-aws"},
		"example.com/hold":                           nil,
		"":                                           nil,
	} {
		var got []string
		for _, k := range r.Named(name) {
			got = append(got, k.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestNamedAgreesWithLookup: what Lookup finds on a kind is among what Named returns.
func TestNamedAgreesWithLookup(t *testing.T) {
	r := embedded(t)
	for _, c := range [][3]string{
		{"finalizers.fluxcd.io", "kustomize.toolkit.fluxcd.io", "Kustomization"},
		{"finalizer.managedresource.crossplane.io", "s3.aws.upbound.io", "Bucket"},
		{"operator.redpanda.com/finalizer", "cluster.redpanda.com", "Topic"}, {"kubernetes", "", "Namespace"},
	} {
		k, ok := r.Lookup(c[0], c[1], c[2])
		if !ok {
			t.Errorf("%q is not known", c)
			continue
		}
		var ids []string
		for _, n := range r.Named(c[0]) {
			ids = append(ids, n.ID)
		}
		if !slices.Contains(ids, k.ID) {
			t.Errorf("%q: Lookup finds %s, and Named %q", c, k.ID, ids)
		}
	}
}

// TestManagedResourcesKnowTheirProviderConfig: the group of the ProviderConfig follows from that of
// the resource.
func TestManagedResourcesKnowTheirProviderConfig(t *testing.T) {
	r := embedded(t)
	for group, want := range map[string]string{
		"s3.aws.upbound.io": "{domain}", "s3.aws.m.upbound.io": "{domain}", "s3.aws.crossplane.io": "{domain}",
		"kubernetes.crossplane.io": "{group}", "helm.crossplane.io": "{group}", "kubernetes.m.crossplane.io": "{group}",
	} {
		k, ok := r.Lookup("finalizer.managedresource.crossplane.io", group, "Thing")
		if !ok || len(k.Needs) != 1 || k.Needs[0].Group != want || len(k.Needs[0].Needs) != 1 ||
			k.Needs[0].Needs[0].Kind != "Secret" {
			t.Errorf("%s: needs %+v, want a ProviderConfig of %s, and the Secret that it names", group, k.Needs, want)
		}
	}
}
