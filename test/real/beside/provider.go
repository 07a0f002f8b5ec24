package beside

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/crd"
	"github.com/kubectl-gc/kubectl-gc/test/real/program"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// StartProvider starts provider-kubernetes. Its managed resources, of the kind Object, stand for
// objects of a cluster: here of their own cluster.
func StartProvider(t testing.TB, c *testcluster.Cluster) *program.Program {
	t.Helper()
	crd.Install(t, c, crd.Source{Pinned: "providerkubernetes", Module: "github.com/crossplane-contrib/provider-kubernetes",
		Dir: "package/crds"}, nil)
	health := fmt.Sprintf("127.0.0.1:%d", program.Port(t))
	return program.Start(t, program.Spec{
		Name: "provider-kubernetes",
		Args: []string{"--debug", "--poll=5s"},
		Env: []string{
			"KUBECONFIG=" + c.Kubeconfig(), "TLS_SERVER_CERTS_DIR=" + program.NewCertificate(t).Dir,
			"HEALTH_PROBE_BIND_ADDRESS=" + health,
		},
		Ready: func(ctx context.Context) bool { return healthy(ctx, "http://"+health+"/readyz") },
	})
}

// healthy reports whether a health probe succeeds.
func healthy(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}
