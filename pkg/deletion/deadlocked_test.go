package deletion_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestOnlyWhatIsStillThereIsDeadlocked: an object that blocks its own deletion is deadlocked if a
// read shows it in the end. A read that fails proves nothing: that is said, with what the server
// answered.
func TestOnlyWhatIsStillThereIsDeadlocked(t *testing.T) {
	t.Parallel()
	const cannot = "the deletion cannot complete: ConfigMap/selfish"
	for name, tt := range map[string]struct {
		fault  faultproxy.Fault // of the last read; nil for none
		says   string
		reason v1alpha1.GapReason // empty if it is deadlocked
		is     func(error) bool
	}{
		"it is read": {says: cannot},
		"403": {faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "not for you"),
			"not for you", v1alpha1.GapForbidden, apierrors.IsForbidden},
		"503": {faultproxy.Status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "not now"),
			"not now", v1alpha1.GapUnavailable, apierrors.IsServiceUnavailable},
		"404 that names nothing": {faultproxy.Plain(http.StatusNotFound, "404 page not found"),
			"could not find", v1alpha1.GapFailed, apierrors.IsNotFound},
		"200 without a uid": {faultproxy.Plain(http.StatusOK,
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"selfish"}}`),
			"the answer has no uid", v1alpha1.GapFailed, func(err error) bool { return errors.Is(err, cluster.ErrNoUID) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			namespace := c.Namespace(t)
			ownItself(t, c, namespace)
			proxy := faultproxy.Start(t, c.Config())
			p := plannedBehind(t, proxy, namespace, "configmap/selfish")
			var sent atomic.Bool
			if tt.fault != nil {
				proxy.On(func(r *http.Request) bool {
					return sent.Load() && r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/configmaps/selfish")
				}, tt.fault)
			}
			result, err := deletion.Perform(t.Context(), p, deletion.Options{
				Wait: true, Timeout: time.Minute,
				OnEvent: func(e act.Event) { sent.Store(sent.Load() || e.Type == act.Deleting) },
			})
			if result == nil || !sent.Load() || !answer.IsRefusal(err) || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("%+v, %v; want a refusal with %q", result, err, tt.says)
			}
			r := result.Printed(render.WaitsOf(p).For)
			if tt.reason == "" {
				if len(result.Deadlocked) != 1 || len(result.Unchecked) != 0 || !r.Complete || len(r.Remaining) != 1 {
					t.Errorf("deadlocked %+v, unchecked %+v, printed %+v", result.Deadlocked, result.Unchecked, r)
				}
				return
			}
			if len(result.Deadlocked) != 0 || strings.Contains(err.Error(), cannot) || !tt.is(err) {
				t.Errorf("a deadlock was concluded, or the server's answer is lost: %+v, %v", result.Deadlocked, err)
			}
			if !strings.Contains(err.Error(),
				`could not check whether ConfigMap/selfish still exists: reading configmaps "selfish"`) {
				t.Errorf("%v does not name the object", err)
			}
			if len(r.Gaps) != 1 || r.Gaps[0].Reason != tt.reason || r.Gaps[0].Resource != "configmaps" || r.Complete {
				t.Errorf("gaps %+v, complete %t, want one with the reason %s", r.Gaps, r.Complete, tt.reason)
			}
			if len(r.Remaining) != 1 || !strings.HasPrefix(r.Remaining[0].Because, "unknown whether it is deleted: ") {
				t.Errorf("remaining %+v", r.Remaining)
			}
		})
	}
}

// TestACycleThatIsBrokenAMomentLaterIsNotDeadlocked: the collector breaks a cycle of which it has
// not seen all deletes, some moments after they were answered. Here it is broken while the first
// answer that shows it there is on its way.
func TestACycleThatIsBrokenAMomentLaterIsNotDeadlocked(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	namespace := c.Namespace(t)
	for _, name := range []string{"egg", "hen"} {
		c.Kubectl(t, "create", "configmap", name, "-n", namespace)
	}
	for name, owner := range map[string]string{"egg": "hen", "hen": "egg"} {
		uid := c.Kubectl(t, "get", "configmap", owner, "-n", namespace, "-o", "jsonpath={.metadata.uid}")
		c.Kubectl(t, "patch", "configmap", name, "-n", namespace, "--type=merge", "-p",
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"`+owner+`","uid":"`+uid+
				`","blockOwnerDeletion":true}]}}`)
	}
	proxy := faultproxy.Start(t, c.Config())
	p := plannedBehind(t, proxy, namespace, "configmap/egg", "configmap/hen")
	var sent atomic.Int32
	var once sync.Once
	proxy.On(func(r *http.Request) bool {
		return sent.Load() == 2 && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/configmaps/")
	}, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(w, r)
		once.Do(func() {
			for _, name := range []string{"egg", "hen"} { // an error says that it is gone already
				_, _ = c.Try(r.Context(), "", "patch", "configmap", name, "-n", namespace, "--type=merge", "-p",
					`{"metadata":{"finalizers":null}}`)
			}
		})
	})
	result, err := deletion.Perform(t.Context(), p, deletion.Options{
		Wait: true, Timeout: time.Minute,
		OnEvent: func(e act.Event) {
			if e.Type == act.Deleting {
				sent.Add(1)
			}
		},
	})
	if err != nil || sent.Load() != 2 || len(result.Deadlocked) != 0 {
		t.Errorf("%d deleted, %+v, %v; want all to be gone", sent.Load(), result, err)
	}
}

// ownItself makes the config map selfish, which blocks its own deletion in the foreground.
func ownItself(t *testing.T, c *testcluster.Cluster, namespace string) {
	t.Helper()
	c.Kubectl(t, "create", "configmap", "selfish", "-n", namespace)
	uid := c.Kubectl(t, "get", "configmap/selfish", "-n", namespace, "-o", "jsonpath={.metadata.uid}")
	c.Kubectl(t, "patch", "configmap/selfish", "-n", namespace, "--type=merge", "-p",
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"selfish","uid":"`+uid+
			`","blockOwnerDeletion":true}]}}`)
	t.Cleanup(func() {
		c.Kubectl(t, "patch", "configmap/selfish", "-n", namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	})
}

// plannedBehind plans through a proxy the deletion of some objects in the foreground.
func plannedBehind(t *testing.T, proxy *faultproxy.Proxy, namespace string, args ...string) *deletion.Planned {
	t.Helper()
	config, client, catalog := fixture.ConnectFlags(t, proxy.Kubeconfig(t))
	p, err := deletion.Plan(t.Context(), client, catalog, config, deletion.Request{
		Selection: selection.Request{Namespace: namespace, Args: args}, Policy: plan.Foreground,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
