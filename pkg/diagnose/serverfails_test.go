package diagnose

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestServerThatFailsAtAnUpdateOrARead: the API server passes on what etcd says with the code 500 and
// without a reason. Nobody else may do what it fails at.
func TestServerThatFailsAtAnUpdateOrARead(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "app", "example.com/kept"))
	fixture.Free(t, c, ns, "configmap/app")
	deleted(t, c, "configmap", "app", "-n", ns)
	for name, test := range map[string]struct {
		method, said                      string
		reason                            metav1.StatusReason
		cause, evidence, sentence, remedy string
	}{
		"etcd at an update": {
			http.MethodPatch, "etcdserver: mvcc: database space exceeded", "", "AdmissionDenied ConfigMap/app",
			"failed: etcdserver: mvcc: database space exceeded", "Etcd, in which the API server stores objects, fails at UPDATE", "See to etcd first",
		},
		"its storage at an update": {
			http.MethodPatch, "could not be completed at this time", metav1.StatusReasonServerTimeout,
			"AdmissionDenied ConfigMap/app", "failed: could not be completed at this time",
			"The API server fails at UPDATE", "Run the command again.",
		},
		"etcd at a read": {
			http.MethodGet, "etcdserver: no leader", "", "FinalizerActorUnknown ConfigMap/app",
			"the object cannot be read: ", "", "The API server fails to read it, for whoever it is",
		},
	} {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(func(r *http.Request) bool { return r.Method == test.method && faultproxy.Path("/configmaps/app")(r) },
			faultproxy.Status(http.StatusInternalServerError, test.reason, test.said))
		d := examine(t, proxy.Config(), Options{}, ns)
		cause := stuckOf(t, d, "app").Causes[0]
		if got := cause.Code + " ConfigMap/app"; got != test.cause {
			t.Errorf("%s: %s, want %s", name, got, test.cause)
		}
		wantEvidence(t, cause, test.evidence)
		if !strings.HasPrefix(cause.Summary, test.sentence) || !strings.HasPrefix(cause.Remedy, test.remedy) {
			t.Errorf("%s: %q, %q", name, cause.Summary, cause.Remedy)
		}
	}
	if core.ServerFails(nil) {
		t.Error("no error is taken for a failure of the server")
	}
}
