package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestADeleteThatIsRefusedIsNotReportedAsDone: what answers 409 or 404 for ever need not be about
// another object of the name, nor about one that is gone.
func TestADeleteThatIsRefusedIsNotReportedAsDone(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		fault faultproxy.Fault
		words string
	}{
		"conflict": {faultproxy.Status(409, "Conflict", "the webhook says no"),
			`: configmaps "one": the webhook says no`},
		"404 of a proxy": {faultproxy.Plain(404, "no such page"),
			`: configmaps "one": the server could not find the requested resource`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			c.Apply(t, configMap("one", "")+configMap("two", ""), "-n", ns)
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(func(r *http.Request) bool { return r.Method == http.MethodDelete && faultproxy.Path("/one")(r) },
				test.fault)
			d := del(t, proxy.Kubeconfig(t), "", "configmap", "one", "two", "-n", ns, "--yes", "-o", "json")
			d.want(t, 1, test.words)
			if r := d.result(t); len(r.Done) != 1 || r.Done[0].Object.Name != "two" || len(r.Failed) != 1 ||
				r.Failed[0].Action.Object.Name != "one" || len(r.Skipped) != 0 {
				t.Errorf("result %+v; want two done, one failed, nothing skipped", r)
			}
			if left := c.Kubectl(t, "get", "configmap", "one", "two", "-n", ns, "--ignore-not-found", "-o",
				"name"); strings.TrimSpace(left) != "configmap/one" {
				t.Errorf("left: %q", left)
			}
		})
	}
}
