package collect

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestOwnerInANamespaceThatIsNotListed_X01: what restricts the writes restricts no evidence. An
// owner that is alive in another namespace is a mismatch, which is held if it is to be, also where
// nobody may look whether it is; without that it is what the collector takes it for.
func TestOwnerInANamespaceThatIsNotListed_X01(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s, other := newFixture(t, c), newFixture(t, c)
	other.make("owner")
	s.ownedBy("copied", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner",
		UID: other.uids["owner"]})
	client := newClient(t, c)
	holding := s.options()
	holding.Overrides.KeepMismatched = true

	snapshot, err := New(client, s.options()).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if surprises := plan.NewRun(snapshot.Graph, plan.Options{Proven: snapshot.Proven}).Surprises(); len(surprises) != 1 {
		t.Errorf("%d surprises in the plan, want 1", len(surprises))
	}
	s.run(client, holding)
	s.check("copied < owner")

	proxy := faultproxy.Start(t, c.Config())
	blind, err := cluster.New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	proxy.On(func(r *http.Request) bool { return r.URL.Path == "/api/v1/configmaps" },
		faultproxy.Status(403, metav1.StatusReasonForbidden, "not there"))
	s.run(blind, holding)
	s.check("copied < owner")
	s.run(blind, s.options())
	s.check()
	other.check("owner")
}
