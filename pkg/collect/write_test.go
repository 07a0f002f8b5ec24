package collect

import (
	"context"
	"net/http"
	"net/http/httptest"
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

// TestAWriteThatA404RefusesIsDecidedAnewByWhatIsThere: between the decision and the answer the object
// is replaced, gets other owners, is written to all the same, or goes with its namespace. Each write
// is sent once, and what is there in the end is what the decision is about, or stays.
func TestAWriteThatA404RefusesIsDecidedAnewByWhatIsThere(t *testing.T) {
	t.Parallel()
	refused := unproven["404 of a proxy"]
	for name, tt := range map[string]struct {
		method string
		make   []string
		fault  func(s *fixture, w http.ResponseWriter, r *http.Request, next http.Handler)
		left   []string
	}{
		"replaced": {http.MethodDelete, []string{"a < nobody"},
			func(s *fixture, w http.ResponseWriter, r *http.Request, next http.Handler) {
				s.delete(plan.Background, "a")
				s.make("a")
				refused(w, r, next)
			}, []string{"a"}},
		"replaced, and the server says so": {http.MethodDelete, []string{"a < nobody"},
			func(s *fixture, w http.ResponseWriter, r *http.Request, next http.Handler) {
				s.delete(plan.Background, "a")
				s.make("a")
				next.ServeHTTP(w, r)
			}, []string{"a"}},
		"replaced before a reference is removed": {http.MethodPatch, []string{"solid", "a < nobody solid"},
			func(s *fixture, w http.ResponseWriter, r *http.Request, next http.Handler) {
				s.delete(plan.Background, "a")
				s.make("a < solid")
				next.ServeHTTP(w, r)
			}, []string{"a < solid", "solid"}},
		"adopted": {http.MethodDelete, []string{"solid", "a < nobody"},
			func(s *fixture, w http.ResponseWriter, r *http.Request, next http.Handler) {
				s.own("a", "solid")
				refused(w, r, next)
			}, []string{"a < solid", "solid"}},
		"deleted all the same": {http.MethodDelete, []string{"a < nobody | " + hold},
			func(_ *fixture, w http.ResponseWriter, r *http.Request, next http.Handler) {
				next.ServeHTTP(httptest.NewRecorder(), r)
				refused(w, r, next)
			}, []string{"-a < nobody | " + hold}},
		"its reference removed all the same": {http.MethodPatch, []string{"solid", "a < nobody solid"},
			func(_ *fixture, w http.ResponseWriter, r *http.Request, next http.Handler) {
				next.ServeHTTP(httptest.NewRecorder(), r)
				refused(w, r, next)
			}, []string{"a < solid", "solid"}},
		"its reference put back": {http.MethodPatch, []string{"solid", "a < nobody solid"},
			func(s *fixture, w http.ResponseWriter, r *http.Request, next http.Handler) {
				next.ServeHTTP(httptest.NewRecorder(), r)
				s.own("a", "nobody")
				refused(w, r, next)
			}, []string{"a < solid", "solid"}},
		"gone with its namespace": {http.MethodDelete, []string{"a < nobody"},
			func(s *fixture, w http.ResponseWriter, r *http.Request, next http.Handler) {
				s.delete(plan.Background, "a")
				namespaces := s.client.CoreV1().Namespaces()
				_ = namespaces.Delete(context.Background(), s.namespace, metav1.DeleteOptions{})
				if n, err := namespaces.Get(context.Background(), s.namespace, metav1.GetOptions{}); err == nil {
					n.Spec.Finalizers = nil
					_, _ = namespaces.Finalize(context.Background(), n, metav1.UpdateOptions{})
				}
				next.ServeHTTP(w, r)
			}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			s := newFixture(t, c)
			s.make(tt.make...)
			proxy, client := proxied(t, c)
			var faults atomic.Int32
			proxy.On(writesTo(tt.method, "a"), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if faults.Add(1) > 1 {
					next.ServeHTTP(w, r)
					return
				}
				tt.fault(s, w, r, next)
			})
			s.run(client, s.options())
			s.check(tt.left...)
		})
	}
}

// TestAnAPIThatAnswers404IsUnknown: from the first write on nothing of the type is to be seen any
// more, which proves of no object that it is gone.
func TestAnAPIThatAnswers404IsUnknown(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("a < nobody", "b < a", "c < a solid")
	proxy, client := proxied(t, c)
	var gone atomic.Bool
	deletes := writesTo(http.MethodDelete, "a")
	proxy.On(func(r *http.Request) bool {
		if deletes(r) {
			gone.Store(true)
		}
		return gone.Load() && strings.Contains(r.URL.Path, "/configmaps")
	}, unproven["404 of a proxy"])
	result, events := s.run(client, s.options())
	s.check("a < nobody", "b < a", "c < a solid")
	if len(events) > 0 || result.Writes > 0 || len(result.Unread)+len(result.Gaps) == 0 {
		t.Errorf("%d writes, told was %v, unread is %v, gaps are %v", result.Writes, events, result.Unread, result.Gaps)
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
