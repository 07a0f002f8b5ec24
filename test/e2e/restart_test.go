package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWatchesGoOnAfterTheServerWasRestarted: run --watch collects and tree --watch draws what
// happened right before, and what happens afterwards. The server is then stopped once more, as one of
// several clusters.
func TestWatchesGoOnAfterTheServerWasRestarted(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers())
	ns := c.Namespace(t)
	owned := func(name, owner, uid string) {
		c.Apply(t, fmt.Sprintf(
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: %s, uid: %s}]}}", name, owner, uid), "-n", ns)
	}
	made := func(name string) string {
		c.Kubectl(t, "create", "configmap", name, "-n", ns)
		return c.Kubectl(t, "get", "configmap", name, "-n", ns, "-o", "jsonpath={.metadata.uid}")
	}
	root, other := made("root"), made("other")
	owned("first", "root", root)
	owned("of-other", "other", other)
	drawn := watch(t.Context(), t, "configmap/root", "-n", ns, "--kubeconfig", c.Kubeconfig())
	drawn.until("ConfigMap/first", "Active")
	collecting := startRun(t, "-n", ns, "--watch", "--kubeconfig", c.Kubeconfig())
	owned("probe", "nobody", "of-nobody")
	collecting.prints(&collecting.out, `configmap "probe" deleted`)

	c.Kubectl(t, "delete", "configmap", "other", "-n", ns)
	c.StopAPIServer(t)
	c.StartAPIServer(t)
	owned("second", "root", root)
	drawn.until("ConfigMap/second", "Active")
	testcluster.Eventually(t, "what other owned is collected", func(ctx context.Context) (bool, error) {
		out, err := c.Command(ctx, "get", "configmaps", "-n", ns, "-o", "name").Output()
		return err == nil && !strings.Contains(string(out), "of-other"), nil
	})
	c.Kubectl(t, "delete", "configmap", "root", "-n", ns)
	collecting.prints(&collecting.out, `configmap "first" deleted`)
	collecting.prints(&collecting.out, `configmap "second" deleted`)
	drawn.ends()
	collecting.interrupt()
	collecting.ends(0)
	// The delete may have been on its way as the server stopped: its answer is lost then, which is
	// warned of.
	out, errOut := collecting.out.String(), collecting.errOut.String()
	lost := strings.Count(errOut, `Warning: delete configmaps "of-other"`)
	if strings.Count(out, " deleted from ") != 4-lost || lost > 1 {
		t.Errorf("it has printed\n%s\nand\n%s", out, errOut)
	}
	t.Run("AmongSeveralClusters", func(t *testing.T) { aClusterThatStopsIsAGap(t, c, ns) })
}
