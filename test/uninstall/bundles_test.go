package uninstall

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/test/operator"
)

func certManager(t testing.TB) bundle {
	b := bundle{folder: "cert-manager", name: "cert-manager", released: []string{
		"cert-manager challenges.acme.cert-manager.io/www-1-3071846298-1490823",
		"cm-shop challenges.acme.cert-manager.io/www-1-3071846298-1490823",
	}}
	b.operators = []operator.Spec{{Namespace: "cert-manager", Deployment: "cert-manager",
		Manager: "cert-manager-challenges", Works: []operator.Work{
			{Resource: "certificates.v1.cert-manager.io", Creates: made(t, b, "certificate")},
			{Resource: "certificaterequests.v1.cert-manager.io", Creates: made(t, b, "certificaterequest")},
			{Resource: "orders.v1.acme.cert-manager.io", Creates: made(t, b, "order")},
			{Resource: "challenges.v1.acme.cert-manager.io", Finalizer: "finalizer.acme.cert-manager.io", Before: withIssuer},
		}}}
	return b
}

// withIssuer is what cert-manager needs before 1.16 to remove what solves a challenge: the
// credentials of the Issuer.
func withIssuer(ctx context.Context, c *operator.Client, challenge *unstructured.Unstructured) (bool, error) {
	return c.Exists(ctx, operator.Ref{Resource: "issuers.v1.cert-manager.io", Namespace: challenge.GetNamespace(),
		Name: field(challenge, "spec", "issuerRef", "name")})
}

func flux(t testing.TB) bundle {
	const sources, kustomizations, releases = "source.toolkit.fluxcd.io", "kustomizations.v1.kustomize.toolkit.fluxcd.io",
		"helmreleases.v2.helm.toolkit.fluxcd.io"
	const finalizer = "finalizers.fluxcd.io"
	b := bundle{folder: "flux", name: "flux", released: []string{
		"flux-system gitrepositories.source.toolkit.fluxcd.io/flux-system",
		"flux-system kustomizations.kustomize.toolkit.fluxcd.io/flux-system",
		"flux-apps gitrepositories.source.toolkit.fluxcd.io/podinfo",
		"flux-apps kustomizations.kustomize.toolkit.fluxcd.io/podinfo",
		"flux-apps helmrepositories.source.toolkit.fluxcd.io/charts",
		"flux-apps helmcharts.source.toolkit.fluxcd.io/flux-apps-cache",
		"flux-apps helmreleases.helm.toolkit.fluxcd.io/cache",
	}}
	b.operators = []operator.Spec{
		{Namespace: "flux-system", Deployment: "source-controller", Manager: "gotk-source-controller", Works: []operator.Work{
			{Resource: "gitrepositories.v1." + sources, Finalizer: finalizer},
			{Resource: "helmrepositories.v1." + sources, Finalizer: finalizer},
			{Resource: "helmcharts.v1." + sources, Finalizer: finalizer},
		}},
		{Namespace: "flux-system", Deployment: "kustomize-controller", Manager: "gotk-kustomize-controller",
			Works: []operator.Work{
				{Resource: kustomizations, Finalizer: finalizer, Creates: made(t, b, "kustomization"), Unowned: true,
					Before: prune},
			}},
		{Namespace: "flux-system", Deployment: "helm-controller", Manager: "gotk-helm-controller", Works: []operator.Work{
			{Resource: releases, Finalizer: finalizer, Creates: made(t, b, "helmrelease"), Unowned: true,
				Before: uninstallRelease},
		}},
	}
	return b
}

// prune deletes what a Kustomization has applied. It does not wait for that.
func prune(ctx context.Context, c *operator.Client, kustomization *unstructured.Unstructured) (bool, error) {
	_, err := c.Delete(ctx, operator.Ref{Resource: "configmaps.v1.", Namespace: kustomization.GetNamespace(),
		Name: kustomization.GetName() + "-settings"})
	return err == nil, err
}

// uninstallRelease deletes the chart of a HelmRelease, and what it has installed, and waits for the
// latter.
func uninstallRelease(ctx context.Context, c *operator.Client, release *unstructured.Unstructured) (bool, error) {
	namespace, chart, _ := strings.Cut(field(release, "status", "helmChart"), "/")
	if _, err := c.Delete(ctx, operator.Ref{Resource: "helmcharts.v1.source.toolkit.fluxcd.io", Namespace: namespace,
		Name: chart}); err != nil {
		return false, err
	}
	return c.Delete(ctx, operator.Ref{Resource: "configmaps.v1.", Namespace: release.GetNamespace(),
		Name: release.GetName() + "-settings"})
}

func crossplane(t testing.TB) bundle {
	const xrds = "compositeresourcedefinitions.v1.apiextensions.crossplane.io"
	b := bundle{folder: "crossplane", name: "crossplane", released: []string{
		"providerrevisions.pkg.crossplane.io/provider-aws-s3-3cbe6e1b4de1",
		"compositeresourcedefinitions.apiextensions.crossplane.io/xstores.platform.example.org",
		"crossplane-team stores.platform.example.org/photos", "xstores.platform.example.org/photos-x7k2p",
		"providerconfigs.aws.upbound.io/default", "buckets.s3.aws.upbound.io/state",
		"buckets.s3.aws.upbound.io/photos-x7k2p-bucket",
	}}
	b.operators = []operator.Spec{
		{Namespace: "crossplane-system", Deployment: "crossplane", Works: []operator.Work{
			{Resource: "providers.v1.pkg.crossplane.io", Creates: made(t, b, "provider")},
			{Resource: "providerrevisions.v1.pkg.crossplane.io", Finalizer: "revision.pkg.crossplane.io",
				Creates: made(t, b, "providerrevision")},
			{Resource: xrds, Finalizer: "defined.apiextensions.crossplane.io", Creates: made(t, b, "xrd"),
				Before: withInstances("xstores")},
			{Resource: xrds, Finalizer: "offered.apiextensions.crossplane.io", Before: withInstances("stores")},
			{Resource: "stores.v1.platform.example.org", Finalizer: "finalizer.apiextensions.crossplane.io",
				Creates: made(t, b, "claim"), Unowned: true, Before: withComposite},
			{Resource: "xstores.v1.platform.example.org", Finalizer: "composite.apiextensions.crossplane.io",
				Creates: made(t, b, "composite")},
		}},
		{Namespace: "crossplane-system", Deployment: "provider-aws-s3-3cbe6e1b4de1", Manager: "provider",
			Works: []operator.Work{
				{Resource: "buckets.v1beta1.s3.aws.upbound.io", Finalizer: "finalizer.managedresource.crossplane.io",
					Creates: made(t, b, "managed"), Before: withProviderConfig},
				{Resource: "providerconfigs.v1beta1.aws.upbound.io", Finalizer: "in-use.crossplane.io", Before: unused},
			}},
	}
	return b
}

// withInstances deletes the composites of a CompositeResourceDefinition, or their claims, and then
// their type.
func withInstances(plural string) func(context.Context, *operator.Client, *unstructured.Unstructured) (bool, error) {
	return func(ctx context.Context, c *operator.Client, xrd *unstructured.Unstructured) (bool, error) {
		resource := plural + ".v1." + field(xrd, "spec", "group")
		all, err := c.List(ctx, resource, "")
		if err != nil {
			return false, err
		}
		var refs []operator.Ref
		for _, o := range all {
			refs = append(refs, operator.Ref{Resource: resource, Namespace: o.GetNamespace(), Name: o.GetName()})
		}
		if gone, err := c.Delete(ctx, refs...); err != nil || !gone {
			return false, err
		}
		return c.Delete(ctx, operator.Ref{Resource: "customresourcedefinitions.v1.apiextensions.k8s.io",
			Name: plural + "." + field(xrd, "spec", "group")})
	}
}

// withComposite deletes the composite of a claim, and does not wait for that.
func withComposite(ctx context.Context, c *operator.Client, claim *unstructured.Unstructured) (bool, error) {
	_, err := c.Delete(ctx, operator.Ref{Resource: "xstores.v1.platform.example.org",
		Name: field(claim, "spec", "resourceRef", "name")})
	return err == nil, err
}

// withProviderConfig is what a provider needs to delete what a managed resource stands for.
func withProviderConfig(ctx context.Context, c *operator.Client, managed *unstructured.Unstructured) (bool, error) {
	return c.Exists(ctx, operator.Ref{Resource: "providerconfigs.v1beta1.aws.upbound.io",
		Name: field(managed, "spec", "providerConfigRef", "name")})
}

// unused reports whether no managed resource uses a ProviderConfig.
func unused(ctx context.Context, c *operator.Client, config *unstructured.Unstructured) (bool, error) {
	usages, err := c.List(ctx, "providerconfigusages.v1beta1.aws.upbound.io",
		"crossplane.io/provider-config="+config.GetName())
	return len(usages) == 0, err
}

func olm(t testing.TB) bundle {
	const csvs = "clusterserviceversions.v1alpha1.operators.coreos.com"
	b := bundle{folder: "olm", name: "olm", released: []string{
		"operators clusterserviceversions.operators.coreos.com/robot-operator.v1.0.0",
		"operators robots.factory.example.com/welder", "olm-plant robots.factory.example.com/painter",
	}}
	b.operators = []operator.Spec{
		{Namespace: "olm", Deployment: "olm-operator", Manager: "olm", Works: []operator.Work{
			{Resource: csvs, Finalizer: "operators.coreos.com/csv-cleanup", Creates: made(t, b, "csv"),
				Before: withClusterRoles},
			{Resource: csvs, Creates: made(t, b, "csv_cluster"), Unowned: true},
		}},
		{Namespace: "olm", Deployment: "catalog-operator", Manager: "catalog", Works: []operator.Work{
			{Resource: "subscriptions.v1alpha1.operators.coreos.com", Creates: made(t, b, "subscription")},
		}},
		{Namespace: "operators", Deployment: "robot-operator", Works: []operator.Work{
			{Resource: "robots.v1.factory.example.com", Finalizer: "robots.factory.example.com/shutdown",
				Creates: made(t, b, "robot")},
		}},
	}
	return b
}

// withClusterRoles deletes what the labels of a ClusterServiceVersion select in no namespace.
func withClusterRoles(ctx context.Context, c *operator.Client, csv *unstructured.Unstructured) (bool, error) {
	return c.Delete(ctx, operator.Ref{Resource: "clusterrolebindings.v1.rbac.authorization.k8s.io",
		Name: csv.GetName() + "-cluster"},
		operator.Ref{Resource: "clusterroles.v1.rbac.authorization.k8s.io", Name: csv.GetName() + "-cluster"})
}

// gizmo is an operator that no pack knows: who removes its finalizer is told by RBAC alone, since
// its program has a name that many have. There can be copies of it under other names.
func gizmo(t testing.TB, name string) bundle {
	title := strings.ToUpper(name[:1]) + name[1:]
	b := bundle{folder: "gizmo", name: name, replace: strings.NewReplacer("gizmo", name, "Gizmo", title), hook: true,
		released: []string{
			name + "-system " + name + "s." + name + ".example.org/first",
			name + "-team " + name + "s." + name + ".example.org/second",
		}}
	b.operators = []operator.Spec{{Namespace: name + "-system", Deployment: name + "-controller-manager",
		Manager: "manager", Works: []operator.Work{
			{Resource: name + "s.v1." + name + ".example.org", Finalizer: name + ".example.org/cleanup",
				Creates: made(t, b, "gizmo")},
		}}}
	return b
}

func field(o *unstructured.Unstructured, path ...string) string {
	text, _, _ := unstructured.NestedString(o.Object, path...)
	return text
}
