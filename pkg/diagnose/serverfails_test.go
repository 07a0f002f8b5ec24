package diagnose

import (
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
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
	if cluster.IsServerError(nil) {
		t.Error("no error is taken for a failure of the server")
	}
}

// TestServerThatStoresNothing: with a full etcd nobody renews a Lease, nor does the API server itself,
// and no controller is dead for that. Where somebody renews one, or the object was deleted since, it
// stores.
func TestServerThatStoresNothing(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "platforms", testcluster.NoControllers())
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "app", "example.com/kept")+fixture.Lease("default", ns, "op-1", time.Now())+
		fixture.Lease(ns, "leader", "op-1", time.Now().Add(-3*time.Hour)))
	fixture.Free(t, c, ns, "configmap/app")
	deleted(t, c, "configmap", "app", "-n", ns)
	known := fixture.Pack(t, "example.com/kept", "leases: ['"+ns+"/leader']")
	const hours = 3 * time.Hour
	for name, test := range map[string]struct {
		servers, others, deleted time.Duration // ago
		want                     string
	}{
		"it stores":               {0, hours, hours, "FinalizerActorDead"},
		"somebody renews one":     {hours, 0, hours, "FinalizerActorDead"},
		"it was deleted since":    {hours, hours, time.Hour, "FinalizerActorDead"},
		"nobody renews any since": {hours, hours, hours, "AdmissionDenied"},
	} {
		proxy, now := faultproxy.Start(t, c.Config()), time.Now()
		at := func(ago time.Duration) string { return now.Add(-ago).UTC().Format("2006-01-02T15:04:05.000000Z") }
		proxy.On(faultproxy.Path("/leases"), faultproxy.Edit(func(answer any) any {
			list, _ := answer.(map[string]any)["items"].([]any)
			renewed := false
			for _, item := range list {
				o := &unstructured.Unstructured{Object: item.(map[string]any)}
				spec, _ := o.Object["spec"].(map[string]any)
				switch _, ofServer := o.GetLabels()["apiserver.kubernetes.io/identity"]; {
				case spec == nil:
				case ofServer:
					spec["renewTime"] = at(test.servers)
				case o.GetNamespace() != ns && !renewed:
					spec["holderIdentity"], spec["renewTime"], renewed = "somebody", at(test.others), true
				default:
					spec["renewTime"] = at(hours)
				}
			}
			return answer
		}))
		proxy.On(faultproxy.Path("/configmaps"), faultproxy.Edit(func(answer any) any {
			list, _ := answer.(map[string]any)["items"].([]any)
			for _, item := range list {
				m, _ := item.(map[string]any)["metadata"].(map[string]any)
				if m["name"] == "app" {
					m["deletionTimestamp"] = now.Add(-test.deleted).UTC().Format(time.RFC3339)
				}
			}
			return answer
		}))
		cause := stuckOf(t, examine(t, proxy.Config(), Options{Known: known}, ns), "app").Causes[0]
		if cause.Code != test.want {
			t.Errorf("%s: %+v", name, cause)
		}
		if test.want == "AdmissionDenied" {
			wantEvidence(t, cause, "no Lease was renewed for 3 h, not even that of the API server, which answers")
			wantRemedy(t, cause, "Check the API server and etcd first")
		}
	}
}
