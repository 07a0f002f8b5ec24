package rescue_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/rescue"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// isWrite reports whether a request changes something that is stored.
func isWrite(r *http.Request) bool {
	return r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "accessreviews") &&
		!strings.Contains(r.URL.RawQuery, "dryRun=All")
}

// dies returns a proxy through which n writes come, and after them nothing any more. With lost, the
// answer to the n-th does not come either.
func dies(t *testing.T, c *testcluster.Cluster, n int64, lost bool) *faultproxy.Proxy {
	proxy := faultproxy.Start(t, c.Config())
	var writes atomic.Int64
	proxy.On(func(r *http.Request) bool {
		if isWrite(r) {
			return writes.Add(1) > n || lost && writes.Load() == n
		}
		return writes.Load() > n || lost && writes.Load() == n
	}, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if isWrite(r) && lost && writes.Load() == n {
			next.ServeHTTP(httptest.NewRecorder(), r)
		}
		faultproxy.Reset()(w, r, next)
	})
	return proxy
}

// TestKilledAfterEveryWrite_TheSameEnd: wherever it dies, with the collector at work all the time,
// no dependent is deleted, and a second run comes to the same end.
func TestKilledAfterEveryWrite_TheSameEnd(t *testing.T) {
	t.Parallel()
	const writes = 6 // two references, the finalizer, the object, two references
	for n := range int64(writes + 1) {
		for _, lost := range []bool{false, true} {
			if n == 0 && lost {
				continue
			}
			t.Run(fmt.Sprintf("after %d, answer lost %v", n, lost), func(t *testing.T) {
				t.Parallel()
				s := newScene(t, testcluster.Shared(t), hold)
				s.delete("background")
				out := s.rescue(dies(t, s.c, n, lost).Kubeconfig(t), force, rescue.Options{})
				if out.Err == nil != (n == writes && !lost) {
					t.Errorf("after %d of %d writes: %v", n, writes, out.Err)
				}
				s.collected()
				for _, name := range dependents {
					if now := s.get(name); string(now.GetUID()) != s.uids[name] || now.GetDeletionTimestamp() != nil {
						t.Fatalf("%s was deleted", name)
					}
				}
				again := s.rescue(s.c.Kubeconfig(), force, rescue.Options{})
				if again.Err != nil {
					t.Fatal(again.Err)
				}
				s.collected()
				s.rescued()
				if third := s.rescue(s.c.Kubeconfig(), force, rescue.Options{}); third.Err != nil || len(third.Done) > 0 {
					t.Errorf("a third run: %v, did %v", third.Err, third.Done)
				}
			})
		}
	}
}
