package beside

import (
	"context"
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/crd"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// StartKarpenter starts Karpenter with its provider kwok, whose instances are Nodes without a
// kubelet. It elects a leader, since its Lease is what shows that it is alive.
func StartKarpenter(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	for _, dir := range []string{"kwok/charts/crds", "kwok/apis/crds"} {
		crd.Install(t, c, crd.Source{Pinned: "karpenter", Module: "sigs.k8s.io/karpenter", Dir: dir}, nil)
	}
	health := program.Port(t)
	return program.Start(t, program.Spec{
		Name: "karpenter",
		Args: []string{"--metrics-port=0", fmt.Sprintf("--health-probe-port=%d", health),
			"--leader-election-namespace=default"},
		Env: []string{"KUBECONFIG=" + c.Kubeconfig()},
		Ready: func(ctx context.Context) bool {
			return healthy(ctx, fmt.Sprintf("http://127.0.0.1:%d/readyz", health))
		},
	})
}
