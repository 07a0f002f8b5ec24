package beside

import (
	"context"
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/crd"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// externalSecretsDeployment stands for external-secrets, which has no flag for the namespace of its
// Lease.
const externalSecretsDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: external-secrets, namespace: default}
spec:
  selector: {matchLabels: &labels {app.kubernetes.io/name: external-secrets}}
  template: {metadata: {labels: *labels}, spec: {containers: [{name: c, image: ghcr.io/external-secrets/external-secrets}]}}
`

// StartExternalSecrets starts the controllers of external-secrets. Its webhooks are not installed.
func StartExternalSecrets(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: "externalsecrets", Module: "github.com/external-secrets/external-secrets",
		Dir: "config/crds/bases"}, nil)
	c.Apply(t, externalSecretsDeployment)
	c.Kubectl(t, "patch", "deployment/external-secrets", "--subresource=status", "-p",
		`{"status":{"observedGeneration":1,"replicas":1,"readyReplicas":1,"availableReplicas":1,"updatedReplicas":1}}`)
	metrics := fmt.Sprintf("127.0.0.1:%d", program.Port(t))
	return program.Start(t, program.Spec{
		Name:  "external-secrets",
		Args:  []string{"--metrics-addr=" + metrics, "--concurrent=4"},
		Env:   []string{"KUBECONFIG=" + c.Kubeconfig()},
		Ready: func(ctx context.Context) bool { return healthy(ctx, "http://"+metrics+"/metrics") },
	})
}
