package beside

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/crd"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// postgresSettings is the namespace of the operator, with the queries that it copies to where
// Clusters are, and a StatefulSet that stands for it: a Deployment would have pods that do not run.
const postgresSettings = `
apiVersion: v1
kind: Namespace
metadata: {name: cnpg-system}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cnpg-default-monitoring, namespace: cnpg-system, labels: {cnpg.io/reload: ""}}
data: {queries: "{}"}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: operator, namespace: cnpg-system, labels: &labels {app.kubernetes.io/name: cloudnative-pg}}
spec:
  serviceName: operator
  selector: {matchLabels: *labels}
  template: {metadata: {labels: *labels}, spec: {containers: [{name: c, image: example.com/operator}]}}
`

// StartCloudNativePG starts the operator of CloudNativePG. Its webhooks are not installed, so that
// a Cluster has to say what they would set.
func StartCloudNativePG(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: "cloudnativepg", Module: "github.com/cloudnative-pg/cloudnative-pg",
		Dir: "config/crd/bases"}, nil)
	c.Apply(t, postgresSettings)
	c.Kubectl(t, "patch", "statefulset/operator", "-n", "cnpg-system", "--subresource=status", "-p",
		`{"status":{"observedGeneration":1,"replicas":1,"readyReplicas":1,"availableReplicas":1,"currentReplicas":1,"updatedReplicas":1}}`)
	certificate, port := program.NewCertificate(t).Dir, program.Port(t)
	for of, name := range map[string]string{"tls.crt": "apiserver.crt", "tls.key": "apiserver.key"} {
		if err := os.Symlink(of, filepath.Join(certificate, name)); err != nil {
			t.Fatal(err)
		}
	}
	// It offers Clusters the architectures of the programs that are in its image.
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "operator"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "operator", "manager_"+runtime.GOARCH), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return program.Start(t, program.Spec{
		Name: "cloudnative-pg",
		Args: []string{"controller", "--metrics-bind-address=0", fmt.Sprintf("--webhook-port=%d", port)},
		Env: []string{"KUBECONFIG=" + c.Kubeconfig(), "WEBHOOK_CERT_DIR=" + certificate, "OPERATOR_NAMESPACE=cnpg-system",
			"OPERATOR_IMAGE_NAME=example.com/operator", "MONITORING_QUERIES_CONFIGMAP=cnpg-default-monitoring"},
		Dir:   dir,
		Ready: func(ctx context.Context) bool { return program.ServesTLS(ctx, port) },
	})
}
