package beside

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/crd"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// jobSetSettings has JobSet serve its webhooks, which nobody calls here, with a certificate of the
// test.
const jobSetSettings = `
apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
internalCertManagement: {enable: false}
leaderElection: {leaderElect: false}
metrics: {bindAddress: "0"}
health: {healthProbeBindAddress: %q}
webhook: {host: 127.0.0.1, port: %d, certDir: %q}
`

// StartJobSet starts the controller of JobSets. Its webhooks are not installed, so that a JobSet has
// to say what they would set.
func StartJobSet(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: "jobset", Module: "sigs.k8s.io/jobset", Dir: "config/components/crd/bases"}, nil)
	health := fmt.Sprintf("127.0.0.1:%d", program.Port(t))
	settings := filepath.Join(t.TempDir(), "settings.yaml")
	text := fmt.Sprintf(jobSetSettings, health, program.Port(t), program.NewCertificate(t).Dir)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return program.Start(t, program.Spec{
		Name:  "jobset",
		Args:  []string{"--config=" + settings},
		Env:   []string{"KUBECONFIG=" + c.Kubeconfig()},
		Ready: func(ctx context.Context) bool { return healthy(ctx, "http://"+health+"/readyz") },
	})
}
