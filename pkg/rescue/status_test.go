package rescue_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/rescue"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const databases = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: databases.rescue.example.com}
spec:
  group: rescue.example.com
  scope: Cluster
  names: {plural: databases, singular: database, kind: Database}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// TestACustomResourceKeepsItsStatus_AndACRDIsRefused: the status names what is outside the cluster.
// Its dependents can be in any namespace.
func TestACustomResourceKeepsItsStatus_AndACRDIsRefused(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "types", testcluster.Controllers(testcluster.Collector))
	c.Apply(t, databases)
	namespace := c.Namespace(t)
	c.Apply(t, `{apiVersion: rescue.example.com/v1, kind: Database, metadata: {name: orders, finalizers: [`+hold+
		`]}, spec: {size: 3}}`)
	c.Kubectl(t, "patch", "database", "orders", "--subresource=status", "--type=merge", "-p",
		`{"status":{"arn":"orders-1"}}`)
	uid := c.Kubectl(t, "get", "database", "orders", "-o", "jsonpath={.metadata.uid}")
	c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: of-orders, namespace: `+namespace+
		`, ownerReferences: [{apiVersion: rescue.example.com/v1, kind: Database, name: orders, uid: `+uid+`}]}}`)
	before := c.Kubectl(t, "get", "configmap", "of-orders", "-n", namespace, "-o", "jsonpath={.metadata.uid}")
	c.Kubectl(t, "delete", "database", "orders", "--wait=false")
	out := rescueNamed(t, c, namespace, "database/orders")
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if got := c.Kubectl(t, "get", "database", "orders", "-o", "jsonpath={.status.arn} {.spec.size}"); got != "orders-1 3" {
		t.Errorf("it has %q", got)
	}
	now := c.Kubectl(t, "get", "database", "orders", "-o", "jsonpath={.metadata.uid}")
	if got := c.Kubectl(t, "get", "configmap", "of-orders", "-n", namespace, "-o",
		"jsonpath={.metadata.uid} {.metadata.ownerReferences[*].uid}"); got != before+" "+now {
		t.Errorf("the dependent is %q, want %q", got, before+" "+now)
	}

	c.Kubectl(t, "patch", "crd", "databases.rescue.example.com", "--type=json", "-p",
		`[{"op": "add", "path": "/metadata/finalizers", "value": ["`+hold+`"]}]`)
	c.Kubectl(t, "delete", "crd", "databases.rescue.example.com", "--wait=false")
	refused := rescueNamed(t, c, namespace, "crd/databases.rescue.example.com")
	if refused.Err == nil || len(refused.Planned.Refusals) == 0 ||
		refused.Planned.Refusals[0].Code != rescue.ContentDeleted {
		t.Errorf("%v, refusals %v", refused.Err, refused.Planned.Refusals)
	}
	c.Kubectl(t, "patch", "crd", "databases.rescue.example.com", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
}

// rescueNamed rescues an object with --force.
func rescueNamed(t *testing.T, c *testcluster.Cluster, namespace, name string) *rescue.Outcome {
	t.Helper()
	config, client, catalog := fixture.ConnectFlags(t, c.Kubeconfig())
	q, err := selection.NewQuery(t.Context(), config, client, catalog,
		selection.Request{Namespace: namespace, Args: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := rescue.Plan(t.Context(), q, fixture.Packs(t),
		rescue.Request{Archive: t.TempDir() + "/archive.yaml", Overrides: force, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	return rescue.Perform(t.Context(), q, fixture.Packs(t), p, rescue.Options{})
}
