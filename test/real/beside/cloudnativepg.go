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
// Clusters are.
const postgresSettings = `
apiVersion: v1
kind: Namespace
metadata: {name: cnpg-system}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cnpg-default-monitoring, namespace: cnpg-system, labels: {cnpg.io/reload: ""}}
data: {queries: "{}"}
`

// StartCloudNativePG starts the operator of CloudNativePG. Its webhooks are not installed, so that
// a Cluster has to say what they would set.
func StartCloudNativePG(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: "cloudnativepg", Module: "github.com/cloudnative-pg/cloudnative-pg",
		Dir: "config/crd/bases"}, nil)
	c.Apply(t, postgresSettings)
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
