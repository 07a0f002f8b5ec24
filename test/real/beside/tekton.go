package beside

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/crd"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// StartTekton starts the controller of Tekton pipelines, whose settings are all left as they are. Its
// webhooks are not installed, so that a run has to say what they would set.
func StartTekton(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: "tekton", Module: "github.com/tektoncd/pipeline", Dir: "config/300-crds"}, nil)
	settings := "apiVersion: v1\nkind: Namespace\nmetadata: {name: tekton-pipelines}\n"
	for _, name := range strings.Fields("config-defaults config-events feature-flags config-leader-election-controller " +
		"config-logging config-observability config-spire config-tracing config-wait-exponential-backoff") {
		settings += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: tekton-pipelines}\n"
	}
	c.Apply(t, settings)
	probes := program.Port(t)
	return program.Start(t, program.Spec{
		Name: "tekton-pipelines",
		Args: []string{"--disable-ha", "--entrypoint-image=example.com/entrypoint", "--nop-image=example.com/nop",
			"--sidecarlogresults-image=example.com/results", "--workingdirinit-image=example.com/workingdir",
			"--shell-image=example.com/shell", "--shell-image-win=example.com/shell"},
		Env: []string{"KUBECONFIG=" + c.Kubeconfig(), "SYSTEM_NAMESPACE=tekton-pipelines", fmt.Sprintf("PROBES_PORT=%d", probes),
			fmt.Sprintf("PROFILING_PORT=%d", program.Port(t)), "CONFIG_LEADERELECTION_NAME=config-leader-election-controller",
			"CONFIG_FEATURE_FLAGS_NAME=feature-flags", "METRICS_DOMAIN=tekton.dev/pipeline"},
		Ready: func(ctx context.Context) bool {
			return healthy(ctx, fmt.Sprintf("http://127.0.0.1:%d/readiness", probes))
		},
	})
}
