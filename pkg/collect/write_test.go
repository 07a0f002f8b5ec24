package collect

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAWriteThatA404RefusesHasFailedIfTheObjectIsThere answers each kind of write with a 404 that
// proves nothing: the object is as it was, the failure is told, and it is not tried for ever.
func TestAWriteThatA404RefusesHasFailedIfTheObjectIsThere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, method, target string
		make                 func(*fixture)
		left                 []string
	}{
		{"DELETE", http.MethodDelete, "a", func(s *fixture) { s.make("a < nobody") }, []string{"a < nobody"}},
		{"reference", http.MethodPatch, "a", func(s *fixture) { s.make("solid", "a < nobody solid") },
			[]string{"a < nobody solid", "solid"}},
		{"finalizer", http.MethodPatch, "o", func(s *fixture) { s.make("o"); s.delete(plan.Orphan, "o") },
			[]string{"-o | orphan"}},
	} {
		for name, fault := range unproven {
			t.Run(tt.name+", "+name, func(t *testing.T) {
				t.Parallel()
				c := testcluster.Shared(t)
				s := newFixture(t, c)
				tt.make(s)
				proxy, client := proxied(t, c)
				var writes atomic.Int32
				proxy.On(writesTo(tt.method, tt.target), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					writes.Add(1)
					fault(w, r, next)
				})
				opts := s.options()
				events := record(&opts)
				if _, err := New(client, opts).Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				s.check(tt.left...)
				if len(*events) == 0 || len(*events) > maxFailures || int(writes.Load()) != 2*len(*events) {
					t.Fatalf("%d writes, and told was %v", writes.Load(), *events)
				}
				for _, e := range *events {
					if e.Err == nil || e.Action.Object.Name != tt.target ||
						!strings.Contains(e.Err.Error(), `configmaps "`+tt.target+`" is still there`) {
						t.Errorf("told was %s %s: %v", e.Action.Verb, e.Action.Object.Name, e.Err)
					}
				}
			})
		}
	}
}

// TestAWriteThatA404RefusesIsNoFailureIfTheObjectIsGone deletes the object behind the loop's back,
// and a proxy answers in a way that does not show it.
func TestAWriteThatA404RefusesIsNoFailureIfTheObjectIsGone(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("a < nobody", "b < a")
	proxy, client := proxied(t, c)
	proxy.On(writesTo(http.MethodDelete, "a"), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		_ = s.client.CoreV1().ConfigMaps(s.namespace).Delete(context.Background(), "a", metav1.DeleteOptions{})
		unproven["404 of a proxy"](w, r, next)
	})
	result, _ := s.run(client, s.options())
	s.check()
	if len(result.Unread) > 0 {
		t.Errorf("unread is %v", result.Unread)
	}
}

// TestAWriteThatCannotBeLookedIntoIsTold refuses a delete, and every read of the object after it,
// in a way that proves nothing.
func TestAWriteThatCannotBeLookedIntoIsTold(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("a < nobody")
	proxy, client := proxied(t, c)
	proxy.On(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/configmaps/a") },
		unproven["404 of a proxy"])
	result, _ := s.run(client, s.options())
	s.check("a < nobody")
	wantUnread(t, result.Unread, v1alpha1.GapFailed, `reading configmaps "a": `)
}
