package beside

import (
	"context"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/crd"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// System is the namespace of Crossplane and its providers.
const System = "crossplane-system"

// StartCrossplane starts Crossplane 1, with the admission webhook that denies the deletion of objects
// in use.
func StartCrossplane(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	return startCrossplane(t, c, crossplane{
		program: "crossplane", module: "github.com/crossplane/crossplane", webhook: "nousages.apiextensions.crossplane.io",
	}, program.NewCertificate(t))
}

// StartCrossplane2 starts Crossplane 2 like StartCrossplane, with the composition function templates,
// which stands for a Function that its package manager would have installed. Crossplane leaves a
// composite alone for minutes whose parts change too often, which a test is not to run into.
func StartCrossplane2(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	certificate := program.NewCertificate(t)
	p := startCrossplane(t, c, crossplane{
		program: "crossplane2", module: "github.com/crossplane/crossplane/v2", webhook: "nousages.protection.crossplane.io",
	}, certificate, "--circuit-breaker-burst=10000", "--circuit-breaker-refill-rate=1000")
	installFunction(t, c, serveFunction(t, certificate))
	return p
}

// crossplane is a version of Crossplane: its program, whose name is that of the directory that pins
// it too, its module, and the name of its webhook.
type crossplane struct{ program, module, webhook string }

func startCrossplane(t testing.TB, c *testcluster.Cluster, v crossplane, certificate program.Certificate,
	args ...string) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: v.program, Module: v.module, Dir: "cluster/crds"}, nil)
	c.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+System+"}\n")
	webhook := program.Port(t)
	p := program.Start(t, program.Spec{
		Name: v.program,
		Args: append([]string{
			"core", "start", "--debug", "--namespace=" + System, "--cache-dir=" + t.TempDir(), "--poll-interval=5s",
			"--tls-server-certs-dir=" + certificate.Dir, "--tls-client-certs-dir=" + certificate.Dir,
			fmt.Sprintf("--webhook-port=%d", webhook), "--metrics-port=0", "--health-probe-port=0", // 0 is any free port
		}, args...),
		Env:   []string{"KUBECONFIG=" + c.Kubeconfig()},
		Ready: func(ctx context.Context) bool { return program.ServesTLS(ctx, webhook) },
	})
	c.Apply(t, fmt.Sprintf(usageWebhook, v.webhook, webhook, base64.StdEncoding.EncodeToString(certificate.CA)))
	return p
}

// usageWebhook is Crossplane's own cluster/webhookconfigurations/usage.yaml, with a URL instead of
// a Service.
const usageWebhook = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: crossplane-no-usages}
webhooks:
- name: %s
  admissionReviewVersions: [v1]
  clientConfig: {url: "https://127.0.0.1:%d/validate-no-usages", caBundle: %s}
  failurePolicy: Fail
  objectSelector: {matchLabels: {crossplane.io/in-use: "true"}}
  rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [DELETE], resources: ["*"]}]
  sideEffects: None
`
