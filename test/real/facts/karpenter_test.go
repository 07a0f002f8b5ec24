package facts

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

//go:embed testdata/karpenter.yaml
var poolManifest string

var (
	nodePools  = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
	nodeClaims = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
	nodes      = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
)

// machine is a NodePool with the NodeClaim and the Node that Karpenter has made for a pod.
type machine struct{ pool, claim, node *unstructured.Unstructured }

// TestKarpenter tests what Karpenter does with a NodeClaim and its Node, of which each takes the
// other along, and what why says of a Node that it cannot drain.
func TestKarpenter(t *testing.T) {
	c := testcluster.Start(t, testcluster.Controllers(controllers...))
	beside.StartKarpenter(t, c)
	learnTypes(t, c)
	c.Apply(t, "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n")
	ns := c.Namespace(t)
	machines := map[string]machine{}
	for _, name := range []string{"claim", "node", "pool", "held"} {
		machines[name] = newMachine(t, c, ns, name)
	}
	t.Run("NodeClaim", func(t *testing.T) {
		goTogether(t, c, machines["claim"], nodeClaims, machines["claim"].claim, []string{"Node", "NodeClaim"})
	})
	t.Run("Node", func(t *testing.T) {
		goTogether(t, c, machines["node"], nodes, machines["node"].node, []string{"Node", "NodeClaim"})
	})
	t.Run("NodePool", func(t *testing.T) {
		goTogether(t, c, machines["pool"], nodePools, machines["pool"].pool, []string{"Node", "NodeClaim", "NodePool"})
	})
	t.Run("Undrained", func(t *testing.T) { undrained(t, c, machines["held"], ns) })
}

// newMachine has Karpenter make a NodeClaim for a pod that no node takes, and takes the part of the
// kubelet of its Node.
func newMachine(t *testing.T, c *testcluster.Cluster, ns, name string) machine {
	t.Helper()
	c.Apply(t, strings.ReplaceAll(poolManifest, "NAME", name), "-n", ns)
	status(t, c, "pod/"+name, `{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}`, "-n", ns)
	var of unstructured.Unstructured
	testcluster.Eventually(t, "the Node of "+name+" is registered", func(context.Context) (bool, error) {
		all := read(t, c, nodeClaims, "").list("karpenter.sh/nodepool=" + name)
		if len(all) == 1 {
			of = all[0]
		}
		return len(all) == 1 && condition(&of, "Registered"), nil
	})
	c.Kubectl(t, "delete", "pod", name, "-n", ns)
	node, _, err := unstructured.NestedString(of.Object, "status", "nodeName")
	if err != nil {
		t.Fatal(err)
	}
	status(t, c, "node/"+node, `{"conditions":[{"type":"Ready","status":"True"}]}`)
	return machine{read(t, c, nodePools, "").get(name), &of, read(t, c, nodes, "").get(node)}
}

func status(t *testing.T, c *testcluster.Cluster, object, status string, args ...string) {
	t.Helper()
	c.Kubectl(t, append([]string{"patch", object, "--subresource=status", "-p", `{"status":` + status + `}`}, args...)...)
}

// goTogether tests that the plan of an object's deletion is what happens, that Karpenter begins to
// delete the Node while the NodeClaim is there, and that the NodeClaim waits for it.
func goTogether(t *testing.T, c *testcluster.Cluster, m machine, resource schema.GroupVersionResource,
	root *unstructured.Unstructured, kinds []string) {
	name := resource.Resource + "." + resource.Group
	if resource.Group == "" {
		name = resource.Resource
	}
	var plan v1alpha1.Plan
	plugin.JSON(t, c, &plan, "delete", "--dry-run=client", name+"/"+root.GetName())
	for _, a := range plan.Actions {
		if a.Object.Kind == "Node" && root.GetKind() != "Node" && (a.By != "controller" || a.Reason != "LinkDeleted") {
			t.Errorf("by the plan the Node is deleted by %s: %s", a.By, a.Because)
		}
	}
	going := planned(t, c, name+"/"+root.GetName())
	r := record.Start(t, c.Config())
	if err := read(t, c, resource, "").delete(root.GetName(), metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	node, claim := []types.UID{m.node.GetUID()}, []types.UID{m.claim.GetUID()}
	h := r.Until(t, "the NodeClaim is gone", func(h record.History) bool {
		return gone(h, going...) && gone(h, claim...) && gone(h, node...)
	})
	inOrder(t, h, stage{"Node", record.Deleted, node}, stage{"Node", record.Gone, node},
		stage{"NodeClaim", record.Gone, claim})
	var want []types.UID
	for _, o := range []*unstructured.Unstructured{m.pool, m.claim, m.node} {
		if slices.Contains(kinds, o.GetKind()) {
			want = append(want, o.GetUID())
		}
	}
	slices.Sort(want)
	if went := went(h); !slices.Equal(going, want) || !slices.Equal(went, want) {
		t.Errorf("the plan deletes %v, and %v are gone, want %v", going, went, want)
	}
}

// undrained tests that why names the pods that Karpenter cannot evict, for the Node and for the
// NodeClaim that waits for it, and that both go once these may go.
func undrained(t *testing.T, c *testcluster.Cluster, m machine, ns string) {
	node := m.node.GetName()
	c.Apply(t, fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: batch, annotations: {karpenter.sh/do-not-disrupt: "true"}}
spec: {nodeName: %[1]s, terminationGracePeriodSeconds: 0, containers: [{name: c, image: example.com/c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: db, labels: {app: db}}
spec: {nodeName: %[1]s, terminationGracePeriodSeconds: 0, containers: [{name: c, image: example.com/c}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: db}
spec: {minAvailable: 1, selector: {matchLabels: {app: db}}}
`, node), "-n", ns)
	for _, pod := range []string{"pod/batch", "pod/db"} {
		status(t, c, pod, `{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`, "-n", ns)
	}
	status(t, c, "pdb/db", `{"observedGeneration":1,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1}`, "-n", ns)
	going := planned(t, c, "nodeclaims.karpenter.sh/"+m.claim.GetName())
	r := record.Start(t, c.Config())
	if err := read(t, c, nodeClaims, "").delete(m.claim.GetName(), metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	testcluster.Eventually(t, "Karpenter says that it cannot drain the Node", func(ctx context.Context) (bool, error) {
		out, err := c.Try(ctx, "", "get", "events", "-A", "--field-selector=reason=FailedDraining,involvedObject.name="+node,
			"-o", "jsonpath={.items[*].involvedObject.kind}: {.items[*].message}")
		return strings.HasPrefix(out, "Node: Failed to drain node, 2 pods are waiting to be evicted"), err
	})
	for _, object := range []string{"nodeclaims.karpenter.sh/" + m.claim.GetName(), "nodes/" + node} {
		var diagnosis v1alpha1.Diagnosis
		code := plugin.JSON(t, c, &diagnosis, "why", object)
		if code != 2 || len(diagnosis.Stuck) != 1 || len(diagnosis.Stuck[0].Causes) != 1 {
			t.Errorf("why %s: exit code %d, %+v", object, code, diagnosis.Stuck)
			continue
		}
		cause := diagnosis.Stuck[0].Causes[0]
		if cause.Code != "ActorWaiting" || !strings.Contains(cause.Summary, ns+"/batch and Pod "+ns+"/db.") ||
			!slices.ContainsFunc(cause.Evidence, func(says string) bool {
				return strings.Contains(says, "PodDisruptionBudget "+ns+"/db, which selects Pod "+ns+"/db, allows no disruption")
			}) {
			t.Errorf("why %s: %+v", object, cause)
		}
	}
	if h := r.Settle(t); len(went(h)) > 0 {
		t.Errorf("these are gone already: %v", went(h))
	}
	c.Kubectl(t, "delete", "pdb", "db", "-n", ns)
	c.Kubectl(t, "annotate", "pod", "batch", "karpenter.sh/do-not-disrupt-", "-n", ns)
	h := r.Until(t, "all of the plan is gone", func(h record.History) bool { return gone(h, going...) })
	without := slices.DeleteFunc(h, func(e record.Event) bool { return e.Resource == "poddisruptionbudgets.policy" })
	if went := went(without); !slices.Equal(going, went) {
		t.Errorf("the plan deletes %v, and %v are gone", going, went)
	}
}
