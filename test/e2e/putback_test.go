package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const heldAndOwned = `
apiVersion: v1
kind: ConfigMap
metadata: {name: solid}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: owner}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: held, finalizers: [example.com/hold]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: dependent}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: shared}
`

// TestWhatIsPutBackIsFailedAndNotDone: a policy undoes what the commands write, in the same
// request. Each command ends, says who it was, and counts the write as failed.
func TestWhatIsPutBackIsFailedAndNotDone(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, heldAndOwned, "-n", ns)
	uid := func(name string) string { return uidOf(t, c, ns, name) }
	reference := func(name, uid string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","name":"` + name + `","uid":"` + uid + `"}`
	}
	patch(t, c, ns, "dependent", `{"metadata":{"ownerReferences":[`+reference("owner", uid("owner"))+`]}}`)
	patch(t, c, ns, "shared", `{"metadata":{"ownerReferences":[`+reference("solid", uid("solid"))+`,`+
		reference("nobody", "11111111-0000-4000-8000-000000000001")+`]}}`)
	c.Kubectl(t, "delete", "configmap", "owner", "-n", ns, "--cascade=orphan", "--wait=false")
	c.Kubectl(t, "delete", "configmap", "held", "-n", ns, "--wait=false")
	policy := c.PutBack(t, ns)
	for _, tt := range []struct {
		args   []string
		code   int
		failed string
	}{
		{[]string{"run"}, 1, "orphan dependent, orphan shared"},
		{[]string{"unfinalize", "configmap/owner", "--finalizer", "orphan"}, 1, "orphan dependent"},
		{[]string{"unfinalize", "configmap/held", "--finalizer", "example.com/hold", "--force"}, 2, "removeFinalizer held"},
		{[]string{"delete", "configmap/solid", "--cascade=orphan", "--gc=client", "--timeout=5s"}, 1, "orphan shared"},
	} {
		r := run(t, append(tt.args, "-n", ns, "--kubeconfig", c.Kubeconfig(), "--yes", "-o", "json")...)
		result := resultOf(t, r)
		var failed []string
		for _, f := range result.Failed {
			failed = append(failed, f.Action.Verb+" "+f.Action.Object.Name)
			if !strings.Contains(f.Error, "was put back in the same request") || !strings.Contains(f.Error, policy) {
				t.Errorf("%v: failed with %q, want that %s put it back", tt.args, f.Error, policy)
			}
		}
		slices.Sort(failed)
		if got := strings.Join(slices.Compact(failed), ", "); r.code != tt.code || got != tt.failed {
			t.Errorf("%v: exit code %d and failed %q, want %d and %q\n%s", tt.args, r.code, got, tt.code, tt.failed, r.stderr)
		}
		for _, d := range result.Done {
			if d.Verb != "delete" {
				t.Errorf("%v: done: %s %s", tt.args, d.Verb, d.Object.Name)
			}
		}
	}
}
