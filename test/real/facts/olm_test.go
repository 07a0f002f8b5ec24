package facts

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var (
	//go:embed testdata/olm.yaml
	operator string
	//go:embed testdata/olm-rbac.yaml
	operatorRights string
)

var csvs = schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1",
	Resource: "clusterserviceversions"}

// TestOLM tests what becomes of what OLM has installed of a ClusterServiceVersion that is deleted, in
// both policies: its Deployment, its rights, its webhook, and its copies in other namespaces; that its
// OperatorCondition goes also where it orphans that; what becomes of an OperatorGroup; and that the
// Deployment, the webhook, a copy and the OperatorCondition come back. The plans say so.
func TestOLM(t *testing.T) {
	c := testcluster.Start(t, testcluster.Controllers(append([]string{"clusterrole-aggregation-controller"},
		controllers...)...))
	beside.StartOLM(t, c)
	learnTypes(t, c)
	for cascade := range policies {
		t.Run(cascade, func(t *testing.T) {
			ns := installed(t, c)
			goesWithin(t, c, "", ns, cascade, csvs, "widgets.v1.0.0")
			goesWithin(t, c, "", ns, cascade, schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1",
				Resource: "operatorgroups"}, "all")
		})
	}
	t.Run("orphan", func(t *testing.T) {
		goesWithin(t, c, "", installed(t, c), "orphan", csvs, "widgets.v1.0.0")
	})
	t.Run("comes back", func(t *testing.T) {
		ns := installed(t, c)
		makesAgain(t, c, ns, deployments, "widgets", "OLM", "ClusterServiceVersion")
		makesAgain(t, c, "default", csvs, "widgets.v1.0.0", "OLM", "ClusterServiceVersion")
		makesAgain(t, c, ns, schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v2",
			Resource: "operatorconditions"}, "widgets.v1.0.0", "OLM", "ClusterServiceVersion")
		webhookComesBack(t, c, ns)
	})
}

// webhookComesBack deletes the webhook of the operator, and tests that the plan says that it comes
// back, and that another does.
func webhookComesBack(t *testing.T, c *testcluster.Cluster, ns string) {
	webhooks := read(t, c, admission("validatingwebhookconfigurations"), "")
	selector := "olm.owner=widgets.v1.0.0,olm.owner.namespace=" + ns
	name := webhooks.list(selector)[0].GetName()
	plan := planOf(t, c, "validatingwebhookconfigurations.admissionregistration.k8s.io/"+name)
	if len(plan.Recreated) != 1 || plan.Recreated[0].Program != "OLM" {
		t.Errorf("the plan of %s says that these come back: %+v", name, plan.Recreated)
	}
	if err := webhooks.delete(name, metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	testcluster.Eventually(t, "another webhook is there", func(context.Context) (bool, error) {
		all := webhooks.list(selector)
		return len(all) == 1 && all[0].GetName() != name, nil
	})
}

// installed makes a ClusterServiceVersion and an OperatorGroup in a new namespace, with the rights
// that an InstallPlan would bring, and waits until OLM has installed it and copied it everywhere.
func installed(t *testing.T, c *testcluster.Cluster) string {
	t.Helper()
	ns := c.Namespace(t)
	c.Apply(t, operator, "-n", ns)
	uid := string(read(t, c, csvs, ns).get("widgets.v1.0.0").GetUID())
	c.Apply(t, strings.NewReplacer("UID", uid, "NS", ns).Replace(operatorRights), "-n", ns)
	deployment := read(t, c, deployments, ns).until("widgets", "is there",
		func(*unstructured.Unstructured) bool { return true })
	status(t, c, "deployment/widgets", fmt.Sprintf(`{"observedGeneration":%d,"replicas":1,"readyReplicas":1,
"availableReplicas":1,"updatedReplicas":1,"conditions":[{"type":"Available","status":"True","reason":"r","message":"m"}]}`,
		deployment.GetGeneration()), "-n", ns)
	testcluster.Eventually(t, "the operator is installed", func(context.Context) (bool, error) {
		all := read(t, c, csvs, "").list("")
		for i := range all {
			phase, _, _ := unstructured.NestedString(all[i].Object, "status", "phase")
			if phase != "Succeeded" {
				return false, nil
			}
		}
		return len(all) == len(read(t, c, namespaces, "").list("")), nil
	})
	return ns
}
