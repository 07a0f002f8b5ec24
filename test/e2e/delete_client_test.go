package e2e

import (
	"net/http"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestTheReferencesOfWhatStaysAreRemovedToTheEnd by --gc=client: that all is gone that was to go is
// not the end of the plan.
func TestTheReferencesOfWhatStaysAreRemovedToTheEnd(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMap("root", "")+configMap("other", ""), "-n", ns)
	root, other := uidOf(t, c, ns, "root"), uidOf(t, c, ns, "other")
	c.Apply(t, configMap("shared",
		`, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: root, uid: `+root+
			`}, {apiVersion: v1, kind: ConfigMap, name: other, uid: `+other+`}]`), "-n", ns)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(func(r *http.Request) bool { return r.Method == http.MethodPatch },
		faultproxy.Times(1, faultproxy.Plain(404, "no such page")))
	d := del(t, proxy.Kubeconfig(t), "", "configmap/root", "-n", ns, "--gc=client", "--yes", "--timeout=2m", "-o", "json")
	owners := c.Kubectl(t, "get", "configmap", "shared", "-n", ns, "-o", "jsonpath={.metadata.ownerReferences[*].name}")
	if d.code == 0 && owners != "other" {
		t.Errorf("exit code 0, and the owners of what stays are %q\nstdout: %s\nstderr: %s", owners, d.stdout, d.stderr)
	}
	if d.code != 0 {
		t.Errorf("exit code %d, stderr: %s; the second try is let through", d.code, d.stderr)
	}
}
