package facts

import (
	"context"
	_ "embed"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

//go:embed testdata/cloudnativepg.yaml
var postgres string

var (
	databases        = postgresql("databases")
	postgresClusters = postgresql("clusters")
)

func postgresql(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "postgresql.cnpg.io", Version: "v1", Resource: resource}
}

// TestCloudNativePG tests what becomes of what CloudNativePG makes for a Cluster, a Pooler and a
// ScheduledBackup that are deleted, and of a namespace with these and a Database; what comes back
// that is deleted alone; and what why says of a Database, for which PostgreSQL would have to run.
// The plans say so, but of the ConfigMap of its queries, which the operator deletes with the last
// Cluster of a namespace, and of a Database whose deletion has begun, which the end of the Cluster
// ends.
func TestCloudNativePG(t *testing.T) {
	all := append([]string{"job-controller", "deployment-controller", "replicaset-controller",
		"persistentvolumeclaim-protection-controller"}, controllers...)
	c := testcluster.Start(t, testcluster.Controllers(all...))
	beside.StartCloudNativePG(t, c)
	c.StopControllers(t) // as learnTypes does
	c.StartControllers(t, all...)
	for cascade := range policies {
		t.Run(cascade, func(t *testing.T) {
			ns := postgresRuns(t, c)
			queries := read(t, c, configMaps, ns).get("cnpg-default-monitoring").GetUID()
			stuck := databaseStuck(t, c, ns)
			goesAsPlanned(t, c, ns, cascade, postgresClusters, "db", queries, stuck)
			goesAsPlanned(t, c, ns, cascade, postgresql("poolers"), "pool")
			goesAsPlanned(t, c, ns, cascade, postgresql("scheduledbackups"), "nightly")
		})
	}
	t.Run("namespace", func(t *testing.T) {
		goesAsPlanned(t, c, "", "background", namespaces, postgresRuns(t, c))
	})
	t.Run("comes back", func(t *testing.T) {
		ns := postgresRuns(t, c)
		rbac := func(resource string) schema.GroupVersionResource {
			return schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: resource}
		}
		serviceAccounts := schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
		budgets := schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
		for _, of := range []struct {
			resource schema.GroupVersionResource
			names    []string
		}{
			{secrets, []string{"db-app", "db-ca", "db-server"}}, {services, []string{"db-rw"}}, {pods, []string{"db-1"}},
			{serviceAccounts, []string{"db"}}, {rbac("roles"), []string{"db"}}, {rbac("rolebindings"), []string{"db"}},
			{budgets, []string{"db-primary"}},
		} {
			for _, name := range of.names {
				makesAgain(t, c, ns, of.resource, name, "CloudNativePG", "Cluster")
			}
		}
		for _, resource := range []schema.GroupVersionResource{
			deployments, services, serviceAccounts, rbac("roles"), rbac("rolebindings"),
		} {
			makesAgain(t, c, ns, resource, "pool", "CloudNativePG", "Pooler")
		}
	})
}

// postgresRuns makes a Cluster and what goes with it in a new namespace, and waits until there is
// the pod of its first instance. The Job that would fill its disk is said to have done so.
func postgresRuns(t *testing.T, c *testcluster.Cluster) string {
	t.Helper()
	ns := c.Namespace(t)
	c.Apply(t, postgres, "-n", ns)
	testcluster.Eventually(t, "what is made of the Cluster is there", func(context.Context) (bool, error) {
		for _, pod := range read(t, c, pods, ns).list("cnpg.io/jobRole=initdb") {
			status(t, c, "pod/"+pod.GetName(), `{"phase":"Succeeded"}`, "-n", ns)
		}
		return len(read(t, c, pods, ns).list("cnpg.io/podRole=instance")) == 1 &&
			len(read(t, c, pods, ns).list("cnpg.io/podRole=pooler")) == 1 &&
			len(read(t, c, postgresql("backups"), ns).list("")) == 1, nil
	})
	return ns
}

// databaseStuck begins the deletion of a Database. Its finalizer stays, as nothing runs in the pod of
// the instance, and why names that pod's program.
func databaseStuck(t *testing.T, c *testcluster.Cluster, ns string) types.UID {
	t.Helper()
	if err := read(t, c, databases, ns).delete("app", metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	database := read(t, c, databases, ns).get("app")
	var why v1alpha1.Diagnosis
	if code := plugin.JSON(t, c, &why, "why", "databases.postgresql.cnpg.io/app", "-n", ns); code != 2 ||
		len(why.Stuck) != 1 || len(why.Stuck[0].Causes) != 1 ||
		why.Stuck[0].Causes[0].Actor != "the CloudNativePG instance manager" {
		t.Errorf("exit code %d, why says %+v", code, why)
	}
	return database.GetUID()
}
