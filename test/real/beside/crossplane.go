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

// StartCrossplane starts Crossplane, with the admission webhook that denies the deletion of objects
// in use.
func StartCrossplane(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: "crossplane", Module: "github.com/crossplane/crossplane",
		Dir: "cluster/crds"}, nil)
	c.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+System+"}\n")
	certificate, webhook := program.NewCertificate(t), program.Port(t)
	p := program.Start(t, program.Spec{
		Name: "crossplane",
		Args: []string{
			"core", "start", "--debug", "--namespace=" + System, "--cache-dir=" + t.TempDir(), "--poll-interval=5s",
			"--tls-server-certs-dir=" + certificate.Dir, "--tls-client-certs-dir=" + certificate.Dir,
			fmt.Sprintf("--webhook-port=%d", webhook), "--metrics-port=0", "--health-probe-port=0", // 0 is any free port
		},
		Env:   []string{"KUBECONFIG=" + c.Kubeconfig()},
		Ready: func(ctx context.Context) bool { return program.ServesTLS(ctx, webhook) },
	})
	c.Apply(t, fmt.Sprintf(usageWebhook, webhook, base64.StdEncoding.EncodeToString(certificate.CA)))
	return p
}

// usageWebhook is Crossplane's own cluster/webhookconfigurations/usage.yaml, with a URL instead of
// a Service.
const usageWebhook = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: crossplane-no-usages}
webhooks:
- name: nousages.apiextensions.crossplane.io
  admissionReviewVersions: [v1]
  clientConfig: {url: "https://127.0.0.1:%d/validate-no-usages", caBundle: %s}
  failurePolicy: Fail
  objectSelector: {matchLabels: {crossplane.io/in-use: "true"}}
  rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [DELETE], resources: ["*"]}]
  sideEffects: None
`
