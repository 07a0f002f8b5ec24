package archive

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAClusterThatCannotBeToldIsNoFailure: the archive is written without it, of objects of a graph
// that no plan is about.
func TestAClusterThatCannotBeToldIsNoFailure(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Kubectl(t, "create", "configmap", "a", "-n", ns)
	proxy := faultproxy.Start(t, c.Config())
	client, p := planned(t, proxy.Config(), ns, "configmaps/a")
	objects := Contents{Graph: p.Graph, Objects: []graph.ID{p.Roots[0], p.Roots[0]}}
	system := faultproxy.Path("/namespaces/kube-system")
	for name, fault := range map[string]faultproxy.Fault{
		"forbidden":     faultproxy.Status(403, metav1.StatusReasonForbidden, "no"),
		"absent":        faultproxy.Status(404, metav1.StatusReasonNotFound, "no such namespace"),
		"no API server": faultproxy.Plain(200, "<html>log in</html>"),
	} {
		proxy.On(system, fault)
		path := filepath.Join(t.TempDir(), "archive.yaml")
		if saved, err := Save(t.Context(), client, path, objects, head()); err != nil || saved.Objects != 1 {
			t.Errorf("%s: %+v, %v", name, saved, err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if r.Head.Cluster != "" {
			t.Errorf("%s: the archive is of the cluster %q", name, r.Head.Cluster)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	proxy.On(system, func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		cancel()
		<-r.Context().Done()
	})
	if _, err := Save(ctx, client, filepath.Join(t.TempDir(), "archive.yaml"), objects, head()); !errors.Is(err,
		context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
