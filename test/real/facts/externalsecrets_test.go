package facts

import (
	"context"
	_ "embed"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var (
	//go:embed testdata/externalsecrets.yaml
	external string
	//go:embed testdata/externalsecrets-cluster.yaml
	everywhere string
)

var (
	externalSecrets = externalSecretsOf("v1", "externalsecrets")
	pushSecrets     = externalSecretsOf("v1alpha1", "pushsecrets")
)

func externalSecretsOf(version, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "external-secrets.io", Version: version, Resource: resource}
}

// TestExternalSecrets tests what becomes of the Secret of an ExternalSecret that is deleted, by its
// creationPolicy, of a PushSecret, and of what those of the cluster have made; what comes back; and
// what why says of a PushSecret whose store has gone before. Plans and why say so.
func TestExternalSecrets(t *testing.T) {
	c := testcluster.Start(t, testcluster.Controllers(controllers...))
	beside.StartExternalSecrets(t, c)
	learnTypes(t, c)
	for cascade := range policies {
		t.Run(cascade, func(t *testing.T) {
			ns := secretsSynced(t, c)
			kept := read(t, c, secrets, ns).get("orphan").GetUID()
			for _, name := range []string{"owned", "orphan", "generated"} {
				goesAsPlanned(t, c, ns, cascade, externalSecrets, name)
			}
			goesAsPlanned(t, c, ns, cascade, pushSecrets, "pushed")
			if left := read(t, c, secrets, ns).list(""); len(left) != 1 || left[0].GetUID() != kept {
				t.Errorf("these Secrets are left: %v", left)
			}
		})
	}
	t.Run("comes back", func(t *testing.T) {
		ns := secretsSynced(t, c)
		for _, name := range []string{"owned", "orphan", "generated"} {
			makesAgain(t, c, ns, secrets, name, "external-secrets", "ExternalSecret")
		}
	})
	t.Run("cluster", func(t *testing.T) {
		ns := secretsSynced(t, c)
		c.Kubectl(t, "label", "namespace", ns, "team=a")
		c.Apply(t, everywhere)
		pushes := func() { isSynced(t, c, pushSecrets, ns, "everywhere") }
		pushes()
		makesAgain(t, c, ns, externalSecrets, "everywhere", "external-secrets", "ClusterExternalSecret")
		makesAgain(t, c, ns, pushSecrets, "everywhere", "external-secrets", "ClusterPushSecret")
		isSynced(t, c, externalSecrets, ns, "everywhere")
		pushes()
		goesAsPlanned(t, c, "", "background", externalSecretsOf("v1alpha1", "clusterpushsecrets"), "everywhere")
		goesAsPlanned(t, c, "", "background", externalSecretsOf("v1", "clusterexternalsecrets"), "everywhere")
	})
	t.Run("without its store", func(t *testing.T) { pushWithoutStore(t, c) })
}

// secretsSynced makes the objects of a namespace, and waits until they have done their work. At the
// end the PushSecrets go before the store, without which they and the namespace would stay.
func secretsSynced(t *testing.T, c *testcluster.Cluster) string {
	t.Helper()
	ns := c.Namespace(t)
	c.Apply(t, external, "-n", ns)
	for _, name := range []string{"owned", "orphan", "generated"} {
		isSynced(t, c, externalSecrets, ns, name)
	}
	isSynced(t, c, pushSecrets, ns, "pushed")
	t.Cleanup(func() { c.Kubectl(t, "delete", "pushsecrets.external-secrets.io", "--all", "-n", ns) })
	return ns
}

// isSynced waits until an object has the condition Ready, and a PushSecret its finalizer.
func isSynced(t *testing.T, c *testcluster.Cluster, resource schema.GroupVersionResource, ns, name string) {
	t.Helper()
	testcluster.Eventually(t, name+" is ready", func(context.Context) (bool, error) {
		for _, o := range read(t, c, resource, ns).list("") {
			if o.GetName() == name && o.GetDeletionTimestamp() == nil && condition(&o, "Ready") {
				return resource != pushSecrets || len(o.GetFinalizers()) > 0, nil
			}
		}
		return false, nil
	})
}

// unpushed is a PushSecret that has pushed nothing, as its Secret does not exist.
const unpushed = `
apiVersion: external-secrets.io/v1alpha1
kind: PushSecret
metadata: {name: unpushed}
spec:
  refreshInterval: 1h
  deletionPolicy: Delete
  secretStoreRefs: [{kind: SecretStore, name: vault}]
  selector: {secret: {name: absent}}
  data: [{match: {secretKey: password, remoteRef: {remoteKey: absent}}}]
`

// pushWithoutStore deletes a store and then a PushSecret. It stays, why names the store, and once
// that is there again it goes. One that has pushed nothing goes without it, and a Secret that comes
// from the store does not come back, other than one of a generator.
func pushWithoutStore(t *testing.T, c *testcluster.Cluster) {
	ns := secretsSynced(t, c)
	c.Apply(t, unpushed, "-n", ns)
	read(t, c, pushSecrets, ns).until("unpushed", "has its finalizer",
		func(o *unstructured.Unstructured) bool { return len(o.GetFinalizers()) > 0 })
	stores := externalSecretsOf("v1", "secretstores")
	goesAsPlanned(t, c, ns, "background", stores, "vault")
	if plan := planOf(t, c, "pushsecrets.external-secrets.io/unpushed", "-n", ns); len(plan.Stuck) != 0 {
		t.Errorf("the plan of what was never pushed says: %+v", plan.Stuck)
	}
	goesAsPlanned(t, c, ns, "background", pushSecrets, "unpushed")
	staysGone(t, c, ns, secrets, "orphan")
	makesAgain(t, c, ns, secrets, "generated", "external-secrets", "ExternalSecret")
	if err := read(t, c, pushSecrets, ns).delete("pushed", metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	var why v1alpha1.Diagnosis
	testcluster.Eventually(t, "why names the store", func(context.Context) (bool, error) {
		code := plugin.JSON(t, c, &why, "why", "pushsecrets.external-secrets.io/pushed", "-n", ns)
		return code == 2 && len(why.Stuck) == 1 && len(why.Stuck[0].Causes) == 1, nil
	})
	if cause := why.Stuck[0].Causes[0]; cause.Code != "DependencyMissing" || !strings.Contains(
		strings.Join(cause.Evidence, "\n"), "SecretStore "+ns+"/vault does not exist") {
		t.Errorf("why says %+v", cause)
	}
	store, _, _ := strings.Cut(external, "---")
	c.Apply(t, store, "-n", ns)
	read(t, c, pushSecrets, ns).gone("pushed")
}
