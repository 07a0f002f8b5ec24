package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestUnreadOutside: an object that stands for something outside the cluster and cannot be read is
// named as such, and does not look as if it stood for nothing.
func TestUnreadOutside(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, "{apiVersion: v1, kind: Service, metadata: {name: web, finalizers: [service.kubernetes.io/load-balancer-cleanup]}, spec: {type: LoadBalancer, ports: [{port: 80}]}}", "-n", ns)
	t.Cleanup(func() {
		c.Kubectl(t, "patch", "service", "web", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	})
	c.Kubectl(t, "patch", "service", "web", "-n", ns, "--subresource=status", "--type=merge", "-p",
		`{"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.7"}]}}}`)
	proxy := faultproxy.Start(t, c.Config())
	plan := func() (p v1alpha1.Plan) {
		got := run(t, "delete", "service/web", "-n", ns, "--dry-run=client", "-o", "json", "--kubeconfig", proxy.Kubeconfig(t))
		if err := json.Unmarshal([]byte(got.stdout), &p); err != nil {
			t.Fatalf("%v in %s%s", err, got.stdout, got.stderr)
		}
		return p
	}
	if p := plan(); len(p.Outside) != 1 || p.Outside[0].Name != "203.0.113.7" || len(p.UnreadOutside) != 0 {
		t.Errorf("outside %+v, unread %+v", p.Outside, p.UnreadOutside)
	}
	proxy.On(func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/services") &&
			!strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata")
	}, faultproxy.Status(http.StatusForbidden, "Forbidden", "services is forbidden"))
	p := plan()
	if len(p.Outside) != 0 || len(p.UnreadOutside) != 1 || p.UnreadOutside[0].Name != "web" {
		t.Errorf("outside %+v, unread %+v", p.Outside, p.UnreadOutside)
	}
	found := ""
	for _, f := range p.Findings {
		if f.Code == "Outside" {
			found = f.Message
		}
	}
	if found != "outside the cluster: 1 object could not be read" {
		t.Errorf("it says %q", found)
	}
}
