package beside

import (
	"context"
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/crd"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// Contract is the label by which Cluster API finds the version of a type that it can work with.
var Contract = map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1"}

// StartClusterAPI starts the core of Cluster API. It provides no infrastructure: see the package
// imitation.
func StartClusterAPI(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: "clusterapi", Module: "sigs.k8s.io/cluster-api", Dir: "config/crd/bases"},
		Contract)
	health := fmt.Sprintf("127.0.0.1:%d", program.Port(t))
	return program.Start(t, program.Spec{
		Name: "cluster-api",
		Args: []string{
			"--leader-elect=false", "--health-addr=" + health, "--diagnostics-address=127.0.0.1:0", "--insecure-diagnostics",
			fmt.Sprintf("--webhook-port=%d", program.Port(t)), "--webhook-cert-dir=" + program.NewCertificate(t).Dir,
		},
		Env:   []string{"KUBECONFIG=" + c.Kubeconfig(), "POD_NAMESPACE=default", "POD_NAME=cluster-api", "POD_UID=none"},
		Ready: func(ctx context.Context) bool { return healthy(ctx, "http://"+health+"/readyz") },
	})
}
