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

// kueueSystem is the namespace of Kueue, with the Secret in which it keeps the certificate of its
// webhooks.
const kueueSystem = `
apiVersion: v1
kind: Namespace
metadata: {name: kueue-system}
---
apiVersion: v1
kind: Secret
metadata: {name: kueue-webhook-server-cert, namespace: kueue-system}
`

// kueueSettings has Kueue see to Jobs.
const kueueSettings = `
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
leaderElection: {leaderElect: true, resourceName: c1f6bfd2.kueue.x-k8s.io, resourceNamespace: kueue-system}
metrics: {bindAddress: "0"}
health: {healthProbeBindAddress: %q}
webhook: {host: 127.0.0.1, port: %d, certDir: %q}
internalCertManagement:
  enable: true
  webhookServiceName: kueue-webhook-service
  webhookSecretName: kueue-webhook-server-cert
integrations: {frameworks: [batch/job]}
`

// kueueConversion is a webhook that converts objects, into whose CRD Kueue writes its certificate.
// Objects of one version need none.
const kueueConversion = `{"spec":{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],` +
	`"clientConfig":{"url":"https://127.0.0.1:%d/convert"}}}}}`

// StartKueue starts Kueue. Its webhooks are not installed, so that a Job has to say what they would
// set: that it is suspended. It elects a leader, since its Lease is what shows that it is alive.
func StartKueue(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: "kueue", Module: "sigs.k8s.io/kueue", Dir: "config/components/crd/bases"}, nil)
	c.Apply(t, kueueSystem)
	health, webhook := fmt.Sprintf("127.0.0.1:%d", program.Port(t)), program.Port(t)
	for _, name := range []string{"localqueues", "clusterqueues", "workloads", "cohorts", "multikueueclusters"} {
		c.Kubectl(t, "patch", "crd", name+".kueue.x-k8s.io", "--type=merge", "-p", fmt.Sprintf(kueueConversion, webhook))
	}
	settings := filepath.Join(t.TempDir(), "settings.yaml")
	text := fmt.Sprintf(kueueSettings, health, webhook, program.NewCertificate(t).Dir)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return program.Start(t, program.Spec{
		Name:  "kueue",
		Args:  []string{"--config=" + settings, "--feature-gates=VisibilityOnDemand=false"},
		Env:   []string{"KUBECONFIG=" + c.Kubeconfig()},
		Ready: func(ctx context.Context) bool { return healthy(ctx, "http://"+health+"/readyz") },
	})
}
