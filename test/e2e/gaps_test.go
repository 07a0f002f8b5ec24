package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAReferenceToANameThatNoObjectCanHaveIsNoGap: a ConfigMap of one tenant does not make every
// run a refusal and every check incomplete. The object is kept, as by the cluster's collector.
func TestAReferenceToANameThatNoObjectCanHaveIsNoGap(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	for i, name := range []string{"%", "a/b", ".."} {
		owner := fmt.Sprintf(", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: '%s', uid: nobody}]", name)
		c.Apply(t, configMap(fmt.Sprint("c", i), owner), "-n", ns)
	}
	before := c.Kubectl(t, "get", "configmaps", "-n", ns, "-o", "name")
	if code, _, stderr := script.InProcess(t.Context(), "", "run", "--yes", "-n", ns, "--kubeconfig",
		c.Kubeconfig()); code != 0 {
		t.Errorf("run: exit code %d: %s", code, stderr)
	}
	if after := c.Kubectl(t, "get", "configmaps", "-n", ns, "-o", "name"); after != before ||
		strings.Count(after, "configmap/c") != 3 {
		t.Errorf("there is %q, and was %q", after, before)
	}
	_, stdout, stderr := script.InProcess(t.Context(), "", "check", "-o", "json", "-n", ns, "--kubeconfig", c.Kubeconfig())
	var report v1alpha1.CheckReport
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || !report.Complete || len(report.Gaps) > 0 {
		t.Errorf("check: %v, complete: %t, gaps: %+v: %s", err, report.Complete, report.Gaps, stderr)
	}
}

// TestAnInventoryThatCannotBeUnderstoodIsAGapOfThePlan, as it is one of the tree, and of its
// digest.
func TestAnInventoryThatCannotBeUnderstoodIsAGapOfThePlan(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	plan := func(release string) (p v1alpha1.Plan) {
		c.Apply(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: r, labels: {owner: helm}}\ndata: {release: "+release+"}\n",
			"-n", ns)
		_, stdout, stderr := script.InProcess(t.Context(), "", "delete", "secret/r", "--dry-run=client", "-o", "json", "-n",
			ns, "--kubeconfig", c.Kubeconfig())
		if err := json.Unmarshal([]byte(stdout), &p); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		return p
	}
	broken := plan("YnJva2Vu")
	if broken.Complete || len(broken.Gaps) != 2 { // of the release and of its hooks
		t.Errorf("complete: %t, gaps %+v", broken.Complete, broken.Gaps)
	}
	// {"manifest": ""}
	whole := plan("SDRzSUFBQUFBQUFDQTZ0V3lrM015MHhMTFM1UnNsSlFVcW9GQUdBWEFBZ1FBQUFB")
	if !whole.Complete || len(whole.Gaps) != 0 {
		t.Errorf("complete: %t, gaps %+v", whole.Complete, whole.Gaps)
	}
	if whole.Digest == broken.Digest {
		t.Error("both have the same digest")
	}
}
