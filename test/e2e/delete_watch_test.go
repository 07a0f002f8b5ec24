package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestADeleteEndsWithoutTheRightToWatch: get, list and delete are enough to delete and to see it
// gone.
func TestADeleteEndsWithoutTheRightToWatch(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMap("one", ""), "-n", ns)
	c.Allow(t, ns, "lister-"+ns, []string{"get", "list", "delete"}, []string{"configmaps"})
	d := del(t, c.KubeconfigAs(t, "lister-"+ns), "", "configmap/one", "-n", ns, "--yes", "--allow-incomplete",
		"--timeout=2m", "-o", "json")
	d.want(t, 0)
	if r := d.result(t); len(r.Done) != 1 || len(r.Remaining) != 0 {
		t.Errorf("result %+v; want it done, and nothing left", r)
	}
}

// TestADeleteOfWhatMayNotBeSeenReturns, as kubectl does, and does not say that it is gone.
func TestADeleteOfWhatMayNotBeSeenReturns(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMap("one", ", finalizers: [example.com/x]"), "-n", ns)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(func(r *http.Request) bool { return r.Method == http.MethodDelete },
		func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			next.ServeHTTP(w, r) // with which the rights end
			proxy.On(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/configmaps") },
				faultproxy.Status(403, "Forbidden", "configmaps is forbidden to you"))
		})
	proxy.On(func(r *http.Request) bool {
		return r.URL.Query().Get("watch") == "true" && strings.HasSuffix(r.URL.Path, "/configmaps")
	},
		faultproxy.Status(403, "Forbidden", "configmaps is forbidden to you"))
	d := del(t, proxy.Kubeconfig(t), "", "configmap/one", "-n", ns, "--yes", "-o", "json")
	d.want(t, 0, "Warning: cannot wait for ConfigMap/one, whose deletion continues: configmaps is forbidden to you")
	if r := d.result(t); len(r.Done) != 1 || len(r.Remaining) != 1 ||
		!strings.HasPrefix(r.Remaining[0].Because, "unknown whether it is deleted: ") {
		t.Errorf("result %+v; want it done, and not known to be gone", r)
	}
}
