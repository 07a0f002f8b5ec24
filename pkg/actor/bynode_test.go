package actor

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWhichDaemonSetWorksOnItsNodes: not one whose pods elect a leader, by their names or those of their
// nodes, nor one for the nodes of a control plane.
func TestWhichDaemonSetWorksOnItsNodes(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		selector, lease, holder string
		want                    bool
	}{
		"no lease":                {"", "", "", true},
		"held by a pod":           {"", "acme", "agent-x_1", false},
		"held by its node":        {"", "agent", "node-1_1", false},
		"of another on its node":  {"", "scheduler", "node-1_1", true},
		"held by somebody else":   {"", "agent", "other-x_1", true},
		"for the control plane":   {"node-role.kubernetes.io/control-plane: ''", "", "", false},
		"for some of other nodes": {"disk: ssd", "", "", true},
	} {
		ns := c.Namespace(t)
		c.Apply(t, fmt.Sprintf(`---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: %[1]s}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {nodeSelector: {%[2]s}, containers: [{name: c, image: example.com/c}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: agent-x, namespace: %[1]s, labels: {app: agent}}
spec: {nodeName: node-1, containers: [{name: c, image: example.com/c}]}
`, ns, test.selector))
		if test.lease != "" {
			c.Apply(t, fmt.Sprintf("apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: %s, namespace: %s}\nspec: {holderIdentity: %s}\n",
				test.lease, ns, test.holder))
		}
		f := finderOf(t, c.Config(), fixture.Packs(t))
		w, err := f.reader.GetObject(t.Context(), cluster.DaemonSets, ns, "agent")
		if err != nil {
			t.Fatal(err)
		}
		if got := f.WorksByNode(t.Context(), w); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
