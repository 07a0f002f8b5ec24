package beside

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/crd"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// StartCertManager starts the controller of cert-manager.
func StartCertManager(t testing.TB, c *testcluster.Cluster, args ...string) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: "certmanager", Module: "github.com/cert-manager/cert-manager",
		Dir: "deploy/crds"}, nil)
	return program.Start(t, program.Spec{Name: "cert-manager", Args: args, Env: []string{"KUBECONFIG=" + c.Kubeconfig()}})
}

// StartPebble starts an ACME server, and gives the URL of its directory. Clients have to skip the
// verification of its certificate.
func StartPebble(t testing.TB) string {
	t.Helper()
	certificate, port := program.NewCertificate(t), program.Port(t)
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": fmt.Sprintf("127.0.0.1:%d", port),
		"certificate":   filepath.Join(certificate.Dir, "tls.crt"), "privateKey": filepath.Join(certificate.Dir, "tls.key"),
		"httpPort": program.Port(t), "tlsPort": program.Port(t),
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pebble.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	program.Start(t, program.Spec{
		Name: "pebble", Args: []string{"-config", file}, Env: []string{"PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0"},
		Ready: func(ctx context.Context) bool { return program.ServesTLS(ctx, port) },
	})
	return fmt.Sprintf("https://127.0.0.1:%d/dir", port)
}
