package collect

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	kinds "github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// ownedBy is a config map with a custom object for its owner.
func ownedBy(dependent, owner, uid string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: ConfigMap
metadata:
  name: %s
  ownerReferences: [{apiVersion: collect.example.com/v1, kind: Owner, name: %s, uid: %s}]
`, dependent, owner, uid)
}

// TestWatchCollectsTheDependentOfACustomObjectWhenItsDefinitionIsDeleted: nobody can read the owner
// any more then, and only its DELETED event says that it is gone. As in upstream's test of the same
// (TestCRDDeletionCascading) a definition of the same name comes a second time. An owner of the
// kind that was never seen is unknown once the kind is not served.
func TestWatchCollectsTheDependentOfACustomObjectWhenItsDefinitionIsDeleted(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "types", testcluster.NoControllers())
	s := newFixture(t, c)
	opts := s.options()
	opts.Settle, opts.RetryMost = 50*time.Millisecond, time.Second
	proxy, client := proxied(t, c)
	loop := watchOver(t, client, opts).loop
	// In the second round the delete is refused for longer than a deletion is believed that was
	// only seen.
	var refuses atomic.Bool
	var refused atomic.Int32
	proxy.On(func(r *http.Request) bool { return r.Method == http.MethodDelete && refuses.Load() },
		func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "not now")(w, r, next)
			refused.Add(1)
		})
	for round := range 2 {
		kinds.Define(t, c, kinds.Kind{Group: "collect.example.com", Kind: "Owner"})
		c.Apply(t, "apiVersion: collect.example.com/v1\nkind: Owner\nmetadata: {name: custom}\n", "-n", s.namespace)
		uid := c.Kubectl(t, "get", "owners.collect.example.com", "custom", "-n", s.namespace, "-o",
			"jsonpath={.metadata.uid}")
		c.Apply(t, ownedBy("dependent", "custom", uid), "-n", s.namespace)
		s.make("probe < nobody")
		s.untilLeft(1) // so that a pass has seen the dependent and kept it
		testcluster.Eventually(t, "the owner is watched",
			func(context.Context) (bool, error) { return watches(proxy, "/owners") > round, nil })
		refuses.Store(round > 0)
		c.Kubectl(t, "delete", "crd", "owners.collect.example.com")
		if round > 0 {
			testcluster.Eventually(t, "the delete is refused",
				func(context.Context) (bool, error) { return refused.Load() > 0, nil })
			loop.mu.Lock()
			old := loop.witnessed[uid]
			old.at = old.at.Add(-time.Hour)
			loop.witnessed[uid] = old
			loop.mu.Unlock()
			refuses.Store(false)
		}
		s.untilLeft(0)
	}
	c.Apply(t, ownedBy("unseen", "custom", "of-nobody"), "-n", s.namespace)
	s.make("probe < nobody")
	s.untilLeft(1)
	if left := s.left(); len(left) != 1 || left[0] != "unseen < custom" {
		t.Errorf("left %v", left)
	}
}

// TestOnlyTheDeletionOfWhatAReferenceNamesProvesThatTheOwnerIsGone: another API that shows the same
// uid, another name and another namespace do not.
func TestOnlyTheDeletionOfWhatAReferenceNamesProvesThatTheOwnerIsGone(t *testing.T) {
	l := New(nil, Options{})
	custom := graph.Type{Group: "example.com", Version: "v1", Resource: "owners", Kind: "Owner", Namespaced: true}
	l.witness(cluster.Change{Gone: true, Object: &graph.Object{Namespace: "ns", Name: "o", UID: "u"},
		ResumePoint: cluster.ResumePoint{Type: custom}})
	custom.Kind, custom.Namespaced = "Cluster", false
	l.witness(cluster.Change{Gone: true, Object: &graph.Object{Name: "o", UID: "c"},
		ResumePoint: cluster.ResumePoint{Type: custom}})
	for owner, want := range map[ownerKey]bool{
		{"example.com/v1", "Owner", "ns", "o", "u"}:        true,
		{"example.com/v1beta1", "Owner", "ns", "o", "u"}:   true,
		{"example.com/v1", "Cluster", "ns", "o", "c"}:      true,
		{"example.com/v1", "Cluster", "", "o", "c"}:        true,
		{"example.com/v1", "Owner", "ns", "o", "v"}:        false,
		{"example.com/v1", "Owner", "ns", "p", "u"}:        false,
		{"example.com/v1", "Owner", "other", "o", "u"}:     false,
		{"example.com/v1", "Owner", "", "o", "u"}:          false,
		{"example.com/v1", "owner", "ns", "o", "u"}:        false,
		{"mirror.example.com/v1", "Owner", "ns", "o", "u"}: false,
		{"v1", "Owner", "ns", "o", "u"}:                    false,
	} {
		if got := l.sawDeleted(owner); got != want {
			t.Errorf("%+v: %v", owner, got)
		}
	}
	old := l.witnessed["u"]
	old.at = old.at.Add(-time.Hour)
	l.witnessed["u"] = old
	if l.sawDeleted(ownerKey{"example.com/v1", "Owner", "ns", "o", "u"}) {
		t.Error("a deletion is believed for ever, although an etcd that is restored brings the owner back")
	}
}
