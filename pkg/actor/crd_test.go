package actor

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// crd is a definition with metadata besides its name, which are written as in YAML.
func crd(group, plural, kind, scope, metadata string) string {
	return fmt.Sprintf(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.%[1]s, %[5]s}
spec:
  group: %[1]s
  scope: %[4]s
  names: {plural: %[2]s, singular: %[6]s, kind: %[3]s, listKind: %[3]sList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, group, plural, kind, scope, metadata, strings.ToLower(kind))
}

// TestActorThatInstalledTheDefinition: who owns the definition of the object's type, or came with
// it, is responsible for its instances. A control plane of its own, because it makes types.
func TestActorThatInstalledTheDefinition(t *testing.T) {
	c := testcluster.Another(t, "types", testcluster.NoControllers())
	ns := c.Namespace(t)
	known := packOf(t, "exact: zebra.example.com/managed", "follow: definition")
	served := func(what string) {
		testcluster.Eventually(t, what+" is served", func(ctx context.Context) (bool, error) {
			_, err := c.Try(ctx, "", "get", what)
			return err == nil, nil
		})
	}
	c.Apply(t, crd("pkg.crossplane.io", "providerrevisions", "ProviderRevision", "Cluster", "labels: {}"))
	served("providerrevisions.pkg.crossplane.io")
	c.Apply(t, "apiVersion: pkg.crossplane.io/v1\nkind: ProviderRevision\nmetadata: {name: provider-aws-s3-1}\nspec: {desiredState: Active}\n")
	uid := c.Kubectl(t, "get", "providerrevision", "provider-aws-s3-1", "-o", "jsonpath={.metadata.uid}")
	c.Apply(t, crd("s3.zebra.example.com", "buckets", "Bucket", "Cluster",
		"ownerReferences: [{apiVersion: pkg.crossplane.io/v1, kind: ProviderRevision, name: provider-aws-s3-1, uid: "+
			uid+"}]")+
		crd("capi.zebra.example.com", "machines", "Machine", "Namespaced",
			"labels: {cluster.x-k8s.io/provider: infrastructure-zebra}")+
		crd("olm.zebra.example.com", "gadgets", "Gadget", "Namespaced", "labels: {operators.coreos.com/gadgets.ops: ''}")+
		crd("helm.zebra.example.com", "gizmos", "Gizmo", "Namespaced",
			"annotations: {meta.helm.sh/release-name: gizmos, meta.helm.sh/release-namespace: ops}")+
		crd("alone.zebra.example.com", "orphans", "Orphan", "Namespaced", "labels: {}"))
	for _, what := range []string{"buckets.s3.zebra.example.com", "machines.capi.zebra.example.com",
		"gadgets.olm.zebra.example.com", "gizmos.helm.zebra.example.com", "orphans.alone.zebra.example.com"} {
		served(what)
	}
	bucket := labelledObject("s3.zebra.example.com/v1", "Bucket", "", nil)
	of := func(apiVersion, kind string) Actor {
		return actorOf(t, c, known, "zebra.example.com/managed", labelledObject(apiVersion, kind, ns, nil))
	}
	missing := actorOf(t, c, known, "zebra.example.com/managed", bucket)
	wantActor(t, missing, Unknown,
		"there is no workload that came with CustomResourceDefinition buckets.s3.zebra.example.com")
	controller{name: "provider-aws-ec2-2", image: "example.com/x",
		labels: []string{"pkg.crossplane.io/revision: provider-aws-ec2-2"}, replicas: 1, status: ready}.install(t, c, ns)
	wantActor(t, actorOf(t, c, known, "zebra.example.com/managed", bucket), Unknown, "there is no workload that came with")
	controller{name: "provider-aws-s3-1", image: "example.com/x",
		labels: []string{"pkg.crossplane.io/revision: provider-aws-s3-1"}, replicas: 1, status: ready}.install(t, c, ns)
	wantActor(t, actorOf(t, c, known, "zebra.example.com/managed", bucket), Alive,
		"provider-aws-s3-1 has 1 of 1 pod ready")

	controller{name: "capz", image: "example.com/x", labels: []string{"cluster.x-k8s.io/provider: infrastructure-zebra"},
		replicas: 1, status: ready}.install(t, c, ns)
	wantActor(t, of("capi.zebra.example.com/v1", "Machine"), Alive, "capz has 1 of 1 pod ready")
	controller{name: "gadgets", image: "example.com/x",
		labels: []string{"operators.coreos.com/gadgets.ops: ''"}}.install(t, c, ns)
	wantActor(t, of("olm.zebra.example.com/v1", "Gadget"), Dead, "gadgets is scaled to 0")
	c.Apply(t, strings.Replace(fixture.Deployment(ns, "gizmos", 0), "labels: {app: gizmos}}",
		"annotations: {meta.helm.sh/release-name: gizmos, meta.helm.sh/release-namespace: ops}}", 1))
	wantActor(t, of("helm.zebra.example.com/v1", "Gizmo"), Dead, "gizmos is scaled to 0")
	wantActor(t, of("alone.zebra.example.com/v1", "Orphan"), Unknown, "there is no workload that came with")
	c.Kubectl(t, "patch", "providerrevision", "provider-aws-s3-1", "--type=merge", "-p",
		`{"spec":{"desiredState":"Inactive"}}`)
	c.Kubectl(t, "delete", "deployment", "provider-aws-s3-1", "-n", ns)
	wantActor(t, actorOf(t, c, known, "zebra.example.com/managed", bucket), Unknown,
		"ProviderRevision provider-aws-s3-1 is not active")
	c.Apply(t, fixture.Deployment(ns, "provider-aws-s3-1", 1)) // for its removal at the end
}
