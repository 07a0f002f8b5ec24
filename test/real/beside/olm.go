package beside

import (
	"context"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/crd"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// StartOLM starts the operator of OLM that installs ClusterServiceVersions. There is no catalog.
func StartOLM(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: "olm", Module: "github.com/operator-framework/operator-lifecycle-manager",
		Dir: "deploy/chart/crds"}, nil)
	c.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: olm}\n")
	return program.Start(t, program.Spec{
		Name:  "olm",
		Args:  []string{"--namespace=olm", "--writeStatusName=", "--writePackageServerStatusName="},
		Env:   []string{"KUBECONFIG=" + c.Kubeconfig(), "OPERATOR_NAMESPACE=olm"},
		Ready: func(ctx context.Context) bool { return healthy(ctx, "http://127.0.0.1:8080/healthz") },
	})
}
