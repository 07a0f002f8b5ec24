package facts

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"testing"

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
// both policies: its Deployment, its rights, its webhook, and its copies in other namespaces; what
// becomes of an OperatorGroup; and that the Deployment comes back. The plans say so.
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
	t.Run("comes back", func(t *testing.T) {
		ns := installed(t, c)
		makesAgain(t, c, ns, deployments, "widgets", "OLM", "ClusterServiceVersion")
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
