package diagnose

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// platformTypes are the types of Crossplane, Cluster API and Argo CD that the tests need, as group,
// plural, kind, scope and category.
var platformTypes = [][5]string{
	{"platform.example.org", "databases", "Database", "Namespaced", "claim"},
	{"platform.example.org", "xdatabases", "XDatabase", "Cluster", "composite"},
	{"storage.example.org", "buckets", "Bucket", "Cluster", "managed"},
	{"storage.example.org", "policies", "Policy", "Cluster", "managed"},
	{"storage.example.org", "providerconfigs", "ProviderConfig", "Cluster", ""},
	{"kubernetes.crossplane.io", "objects", "Object", "Cluster", "managed"},
	{"kubernetes.crossplane.io", "providerconfigs", "ProviderConfig", "Cluster", ""},
	{"apiextensions.crossplane.io", "compositeresourcedefinitions", "CompositeResourceDefinition", "Cluster", ""},
	{"apiextensions.crossplane.io", "usages", "Usage", "Cluster", ""},
	{"protection.crossplane.io", "clusterusages", "ClusterUsage", "Cluster", ""},
	{"cluster.x-k8s.io", "clusters", "Cluster", "Namespaced", ""},
	{"cluster.x-k8s.io", "machinedeployments", "MachineDeployment", "Namespaced", ""},
	{"cluster.x-k8s.io", "machinesets", "MachineSet", "Namespaced", ""},
	{"cluster.x-k8s.io", "machines", "Machine", "Namespaced", ""},
	{"infrastructure.cluster.x-k8s.io", "testmachines", "TestMachine", "Namespaced", ""},
	{"argoproj.io", "applications", "Application", "Namespaced", ""},
}

// definitionOf writes the CustomResourceDefinition of a type whose objects may have anything in
// them.
func definitionOf(group, plural, kind, scope, category string) string {
	return fmt.Sprintf(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.%[1]s, annotations: {api-approved.kubernetes.io: unapproved}}
spec:
  group: %[1]s
  scope: %[4]s
  names: {plural: %[2]s, singular: %[6]s, kind: %[3]s, categories: [%[5]s]}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, group, plural, kind, scope, category, strings.ToLower(kind))
}

// withPlatforms is a control plane with the types of Crossplane, Cluster API and Argo CD, on which
// Crossplane is scaled to 0 and nothing is there of the others.
func withPlatforms(t testing.TB) *testcluster.Cluster {
	t.Helper()
	c := testcluster.Another(t, "platforms", testcluster.NoControllers())
	platforms.Lock()
	defer platforms.Unlock()
	if platforms.made {
		return c
	}
	var manifest strings.Builder
	for _, of := range platformTypes {
		manifest.WriteString(definitionOf(of[0], of[1], of[2], of[3], of[4]))
	}
	c.Apply(t, manifest.String()+fixture.Deployment("default", "crossplane", 0))
	platforms.made = true
	return c
}

var platforms struct {
	sync.Mutex
	made bool
}

// uidOf is the uid of an object.
func uidOf(t testing.TB, c *testcluster.Cluster, namespace, object string) string {
	t.Helper()
	return c.Kubectl(t, "get", object, "-n", namespace, "-o", "jsonpath={.metadata.uid}")
}

// tenant is a claim in a namespace, its composite, and a managed resource of which the composite is
// composed. They are called by the name of the namespace.
func tenant(t testing.TB, c *testcluster.Cluster, ns string) {
	t.Helper()
	c.Apply(t, fmt.Sprintf(`---
apiVersion: platform.example.org/v1
kind: Database
metadata: {name: claim, namespace: %[1]s, finalizers: [finalizer.apiextensions.crossplane.io]}
spec: {compositeDeletePolicy: Foreground, resourceRef: {apiVersion: platform.example.org/v1, kind: XDatabase, name: %[1]s}}
---
apiVersion: platform.example.org/v1
kind: XDatabase
metadata: {name: %[1]s, labels: {crossplane.io/claim-name: claim, crossplane.io/claim-namespace: %[1]s}}
spec: {claimRef: {apiVersion: platform.example.org/v1, kind: Database, name: claim, namespace: %[1]s}}
`, ns))
	c.Apply(t, fmt.Sprintf(`apiVersion: kubernetes.crossplane.io/v1
kind: Object
metadata:
  name: %[1]s
  finalizers: [finalizer.managedresource.crossplane.io]
  ownerReferences: [{apiVersion: platform.example.org/v1, kind: XDatabase, name: %[1]s, uid: %[2]s, controller: true, blockOwnerDeletion: true}]
spec: {providerConfigRef: {name: %[1]s}}
status:
  conditions:
  - {type: Ready, status: "True", reason: Available}
  - type: Synced
    status: "False"
    reason: ReconcileError
    message: 'connect failed: cannot get provider config: ProviderConfig.kubernetes.crossplane.io "%[1]s" not found'
`, ns, uidOf(t, c, "", "xdatabase/"+ns)))
	fixture.Free(t, c, ns, "database/claim", "objects.kubernetes.crossplane.io/"+ns)
}
