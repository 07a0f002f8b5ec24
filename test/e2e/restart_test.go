package e2e

import (
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
	collecting.prints(&collecting.out, `configmap "of-other" deleted`)
	c.Kubectl(t, "delete", "configmap", "root", "-n", ns)
	collecting.prints(&collecting.out, `configmap "first" deleted`)
	collecting.prints(&collecting.out, `configmap "second" deleted`)
	drawn.ends()
	collecting.interrupt()
	collecting.ends(0)
	if out := collecting.out.String(); strings.Count(out, " deleted from ") != 4 {
		t.Errorf("it has printed\n%s", out)
	}
	t.Run("AmongSeveralClusters", func(t *testing.T) { aClusterThatStopsIsAGap(t, c, ns) })
}
