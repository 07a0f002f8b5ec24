package beside

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// Helm runs a command of helm as the administrator, with no settings, caches and plugins of the
// user who runs the tests.
func Helm(t testing.TB, c *testcluster.Cluster, args ...string) error {
	t.Helper()
	home := t.TempDir()
	return program.Complete(t, program.Spec{
		Name: "helm", Args: args,
		Env: []string{"KUBECONFIG=" + c.Kubeconfig(), "HELM_CACHE_HOME=" + home, "HELM_CONFIG_HOME=" + home,
			"HELM_DATA_HOME=" + home},
	})
}
