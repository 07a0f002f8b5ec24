package testcluster

import (
	"os/exec"
	"strings"
	"testing"
)

// TestAPIServerComesBackWithItsData: it is gone while it is stopped, and then is the same server to
// its clients, with the collector at work.
func TestAPIServerComesBackWithItsData(t *testing.T) {
	t.Parallel()
	c := Start(t, Controllers(Collector))
	ns := c.Namespace(t)
	c.Kubectl(t, "create", "configmap", "owner", "-n", ns)
	uid := c.Kubectl(t, "get", "configmap", "owner", "-n", ns, "-o", "jsonpath={.metadata.uid}")
	for range 2 {
		c.StopAPIServer(t)
		if out, err := c.Command(t.Context(), "get", "configmaps", "-n", ns).CombinedOutput(); err == nil ||
			!strings.Contains(string(out), "refused") {
			t.Errorf("without a server: %v, %s", err, out)
		}
		c.StartAPIServer(t)
		if got := c.Kubectl(t, "get", "configmap", "owner", "-n", ns, "-o", "jsonpath={.metadata.uid}"); got != uid {
			t.Errorf("the uid of the owner was %s and is %s", uid, got)
		}
	}
	c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: dependent, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: `+uid+`}]}}`, "-n", ns)
	c.Kubectl(t, "delete", "configmap", "owner", "-n", ns)
	Eventually(t, "the dependent is collected", gone(c, "configmap", "-n", ns))
}

// TestAPIServerIsStartedOnlyAfterItWasStopped: another on the same port would take half of its
// connections.
func TestAPIServerIsStartedOnlyAfterItWasStopped(t *testing.T) {
	c := Shared(t)
	out, err := output(exec.CommandContext(t.Context(), c.binary, "apiserver", "--dir", c.dir, "start"))
	if err == nil || !strings.Contains(err.Error(), "was not stopped") {
		t.Errorf("%v, %s", err, out)
	}
}
