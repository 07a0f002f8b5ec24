package beside

import (
	"context"
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/crd"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// StartKro starts the controller of kro.
func StartKro(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: "kro", Module: "github.com/kubernetes-sigs/kro", Dir: "helm/crds"}, nil)
	health := fmt.Sprintf("127.0.0.1:%d", program.Port(t))
	return program.Start(t, program.Spec{
		Name:  "kro",
		Args:  []string{"--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=" + health},
		Env:   []string{"KUBECONFIG=" + c.Kubeconfig()},
		Ready: func(ctx context.Context) bool { return healthy(ctx, "http://"+health+"/readyz") },
	})
}
