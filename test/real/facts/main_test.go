package facts

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// controllers are those that run in the control plane: the two that have a part in deletions.
var controllers = []string{testcluster.Collector, "namespace-controller"}

// learnTypes has the controllers start again, and so know all types now: the collector looks for
// new ones only every 30 seconds.
func learnTypes(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	c.StopControllers(t)
	c.StartControllers(t, controllers...)
}
