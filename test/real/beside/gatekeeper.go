package beside

import (
	"context"
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/crd"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// gatekeeperPod stands for the pod that Gatekeeper runs in, which owns what it reports.
const gatekeeperPod = `
apiVersion: v1
kind: Namespace
metadata: {name: gatekeeper-system}
---
apiVersion: v1
kind: Pod
metadata: {name: gatekeeper, namespace: gatekeeper-system}
spec: {containers: [{name: manager, image: openpolicyagent/gatekeeper}]}
`

// StartGatekeeper starts Gatekeeper, which makes the binding of a policy a second after the policy,
// not half a minute. Its webhooks are not installed.
func StartGatekeeper(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: "gatekeeper", Module: "github.com/open-policy-agent/gatekeeper/v3",
		Dir: "charts/gatekeeper/crds"}, nil)
	c.Apply(t, gatekeeperPod)
	health := fmt.Sprintf("127.0.0.1:%d", program.Port(t))
	return program.Start(t, program.Spec{
		Name: "gatekeeper",
		Args: []string{
			"--disable-cert-rotation", "--cert-dir=" + program.NewCertificate(t).Dir, "--host=127.0.0.1",
			fmt.Sprintf("--port=%d", program.Port(t)), fmt.Sprintf("--prometheus-port=%d", program.Port(t)),
			"--health-addr=" + health, "--audit-interval=0", "--default-wait-for-vapb-generation=1",
		},
		Env:   []string{"KUBECONFIG=" + c.Kubeconfig(), "POD_NAME=gatekeeper", "POD_NAMESPACE=gatekeeper-system"},
		Ready: func(ctx context.Context) bool { return healthy(ctx, "http://"+health+"/readyz") },
	})
}
