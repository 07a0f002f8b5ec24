package collect

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// writesTo matches the writes of a method to an object.
func writesTo(method, name string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method && strings.HasSuffix(r.URL.Path, "/"+name) }
}

// before does something once, before the first request that matches is passed on, and returns
// whether it was done.
func before(p *faultproxy.Proxy, matches func(*http.Request) bool, do func()) func() bool {
	var once sync.Once
	var done bool
	p.On(matches, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		once.Do(func() {
			do()
			done = true
		})
		next.ServeHTTP(w, r)
	})
	return func() bool { return done }
}

// patch changes an object behind the loop's back.
func (s *fixture) patch(name, body string) {
	s.t.Helper()
	_, err := s.client.CoreV1().ConfigMaps(s.namespace).Patch(context.Background(), name, types.MergePatchType,
		[]byte(body), metav1.PatchOptions{})
	if err != nil {
		s.t.Error(err)
	}
}

// replace puts another object in the place of one.
func (s *fixture) replace(name, line string) {
	s.t.Helper()
	s.patch(name, `{"metadata":{"finalizers":null}}`)
	// gone with its finalizers if it was being deleted
	_ = s.client.CoreV1().ConfigMaps(s.namespace).Delete(context.Background(), name, metav1.DeleteOptions{})
	s.make(line)
}

func (s *fixture) check(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.left()); diff != "" {
		s.t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestObjectCreatedAgainIsNotTouched_P02 puts another object in the place of the target just before
// each kind of write: it stays as it is.
func TestObjectCreatedAgainIsNotTouched_P02(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, method, target, then string
		make                       func(*fixture)
		left                       []string
	}{
		{"DELETE", http.MethodDelete, "a", "a", func(s *fixture) { s.make("a < nobody") }, []string{"a"}},
		{"strip", http.MethodPatch, "a", "a < solid", func(s *fixture) { s.make("solid", "a < nobody solid") },
			[]string{"a < solid", "solid"}},
		{"orphan", http.MethodPatch, "a", "a", func(s *fixture) { s.make("o", "a < o"); s.delete(plan.Orphan, "o") },
			[]string{"a"}},
		{"unblock", http.MethodPatch, "c", "c", func(s *fixture) {
			s.make("a", "b < a+", "c < b+")
			s.own("a", "c+")
			s.delete(plan.Foreground, "a")
		}, []string{"c"}},
		{"foregroundDeletion", http.MethodPatch, "a", "a | foregroundDeletion",
			func(s *fixture) { s.make("a"); s.delete(plan.Foreground, "a") }, []string{"a | foregroundDeletion"}},
		{"finalizer orphan", http.MethodPatch, "a", "a | orphan",
			func(s *fixture) { s.make("a"); s.delete(plan.Orphan, "a") }, []string{"a | orphan"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			s := newFixture(t, c)
			tt.make(s)
			proxy, client := proxied(t, c)
			var version string
			replaced := before(proxy, writesTo(tt.method, tt.target), func() {
				s.replace(tt.target, tt.then)
				version = s.version(tt.target)
			})
			s.run(client, s.options())
			if !replaced() {
				t.Fatal("there was no write to come before")
			}
			s.check(tt.left...)
			if now := s.version(tt.target); now != version {
				t.Errorf("%s was written to: resourceVersion %s, and was %s", tt.target, now, version)
			}
		})
	}
}

func (s *fixture) version(name string) string {
	s.t.Helper()
	o, err := s.client.CoreV1().ConfigMaps(s.namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Error(err)
		return ""
	}
	return o.ResourceVersion
}

// TestDecisionAndDeleteAreAboutTheSame_P03 changes an object just before it is deleted.
func TestDecisionAndDeleteAreAboutTheSame_P03(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		do   func(*fixture)
		left []string
	}{
		{"owner added", func(s *fixture) { s.own("a", "solid") }, []string{"a < solid", "solid"}},
		{"finalizer added", func(s *fixture) { s.patch("a", `{"metadata":{"finalizers":["`+hold+`"]}}`) },
			[]string{"-a < nobody | " + hold, "solid"}},
		{"label added", func(s *fixture) { s.patch("a", `{"metadata":{"labels":{"x":"y"}}}`) }, []string{"solid"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			s := newFixture(t, c)
			s.make("solid", "a < nobody")
			proxy, client := proxied(t, c)
			done := before(proxy, writesTo(http.MethodDelete, "a"), func() { tt.do(s) })
			s.run(client, s.options())
			if !done() {
				t.Fatal("there was no write to come before")
			}
			s.check(tt.left...)
		})
	}
	t.Run("labels change all the time", func(t *testing.T) {
		t.Parallel()
		c := testcluster.Shared(t)
		s := newFixture(t, c)
		s.make("a < nobody")
		proxy, client := proxied(t, c)
		var deletes atomic.Int32
		proxy.On(writesTo(http.MethodDelete, "a"), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n := deletes.Add(1); n < change.Tries { // just before each try but the last
				s.patch("a", fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, n))
			}
			next.ServeHTTP(w, r)
		})
		s.run(client, s.options())
		if n := deletes.Load(); n != change.Tries {
			t.Errorf("%d tries, want %d", n, change.Tries)
		}
		s.check()
	})
}

// hidden are the ways in which a type that has dependents can be hidden.
var hidden = map[string]faultproxy.Fault{
	"403": faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "forbidden"),
	"500": faultproxy.Status(http.StatusInternalServerError, metav1.StatusReasonInternalError,
		"conversion webhook for example.com/v1 failed"),
	"503":         faultproxy.Status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "unavailable"),
	"no endpoint": faultproxy.Plain(http.StatusNotFound, "404 page not found\n"),
	"truncated":   faultproxy.Truncate(40),
	"no list":     faultproxy.Plain(http.StatusOK, "{}"),
	"any list":    faultproxy.Plain(http.StatusOK, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`),
}

// TestOwnersOfHiddenDependentsStay_P05_P06 lets neither an owner that orphans nor one that waits go
// while a type cannot be listed that may hold a dependent; once it can, no dependent of the first
// is deleted, and the second goes after its own.
func TestOwnersOfHiddenDependentsStay_P05_P06(t *testing.T) {
	t.Parallel()
	for name, fault := range hidden {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			s := newFixture(t, c)
			s.make("o", "f")
			s.secret("of-o", "o+")
			s.secret("of-f", "f+")
			s.delete(plan.Orphan, "o")
			s.delete(plan.Foreground, "f")
			proxy, client := proxied(t, c)
			proxy.On(faultproxy.Path("/secrets"), fault)
			opts := s.options()
			result, err := New(client, opts).Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s.check("-f | foregroundDeletion", "-o | orphan")
			if len(result.Gaps) == 0 || leftover(result, "o") == "" || leftover(result, "f") == "" {
				t.Errorf("gaps %v, left %v", result.Gaps, result.NotDeleted)
			}
			s.run(newClient(t, c), opts)
			s.check()
			if got, want := s.secrets(), []string{"of-o"}; !slices.Equal(got, want) {
				t.Errorf("secrets %v, want %v", got, want)
			}
		})
	}
}

// TestLateDependentsAreOrphanedToo_P05 creates a dependent, or removes one, while the loop orphans
// the others.
func TestLateDependentsAreOrphanedToo_P05(t *testing.T) {
	t.Parallel()
	ownerIsLetGo := func(r *http.Request) bool { return writesTo(http.MethodPatch, "o")(r) }
	for _, tt := range []struct {
		name string
		at   func(*http.Request) bool
		do   func(*fixture)
		left []string
	}{
		{"before the first patch", writesTo(http.MethodPatch, "a"), func(s *fixture) { s.make("late < o") },
			[]string{"a", "b", "late"}},
		{"before the owner is let go", ownerIsLetGo, func(s *fixture) { s.make("late < o") }, []string{"a", "b", "late"}},
		{"before the owner is let go, with a solid owner", ownerIsLetGo, func(s *fixture) { s.make("late < o b") },
			[]string{"a", "b", "late < b"}},
		{"before the owner is let go, with an owner that is gone", ownerIsLetGo,
			func(s *fixture) { s.make("late < o nobody") }, []string{"a", "b"}},
		{"a dependent goes", writesTo(http.MethodPatch, "a"), func(s *fixture) { s.delete(plan.Background, "a") },
			[]string{"b"}},
		{"all dependents go", isWrite, func(s *fixture) { s.delete(plan.Background, "a", "b") }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			s := newFixture(t, c)
			s.make("o", "a < o", "b < o")
			s.delete(plan.Orphan, "o")
			proxy, client := proxied(t, c)
			done := before(proxy, tt.at, func() { tt.do(s) })
			opts := s.options()
			opts.Agree = AgreeToAll
			s.run(client, opts)
			if !done() {
				t.Fatal("there was no write to come before")
			}
			s.check(tt.left...)
		})
	}
	t.Run("an owner that others hold", func(t *testing.T) {
		t.Parallel()
		c := testcluster.Shared(t)
		s := newFixture(t, c)
		s.make("o | "+hold, "a < o")
		s.delete(plan.Orphan, "o")
		proxy, client := proxied(t, c)
		before(proxy, ownerIsLetGo, func() { s.make("late < o") })
		s.run(client, s.options())
		s.check("-o | "+hold, "a", "late")
	})
	t.Run("one that comes when all is done is none", func(t *testing.T) {
		t.Parallel()
		c := testcluster.Shared(t)
		s := newFixture(t, c)
		s.make("o", "a < o")
		s.delete(plan.Orphan, "o")
		loop := New(newClient(t, c), s.options())
		if _, err := loop.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.make("later < o")
		if _, err := loop.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.check("a")
	})
}

// TestNothingIsDoneWithoutTheCoreGroup_P05_P06 does nothing behind a server that seems to serve
// nothing of the core group.
func TestNothingIsDoneWithoutTheCoreGroup_P05_P06(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("o", "a < o", "b < nobody")
	s.delete(plan.Orphan, "o")
	proxy, client := proxied(t, c)
	proxy.On(faultproxy.Path("/api"), faultproxy.Plain(http.StatusNotFound, "404 page not found\n"))
	if _, err := New(client, s.options()).Run(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "discovery shows no namespaces") {
		t.Errorf("got %v", err)
	}
	s.check("-o | orphan", "a < o", "b < nobody")
}

// TestOwnerIsDeletedLast_P06 watches: the owner is gone after all of its blocking dependents.
func TestOwnerIsDeletedLast_P06(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("f", "solid")
	var blocking []string
	for i := range 20 {
		name := fmt.Sprintf("d%02d", i)
		s.make(name+" < f+", name+"-below < "+name+"+")
		blocking = append(blocking, name, name+"-below")
	}
	s.make("lives < f+ solid")
	s.delete(plan.Foreground, "f")
	list, err := s.client.CoreV1().ConfigMaps(s.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	watch, err := s.client.CoreV1().ConfigMaps(s.namespace).Watch(t.Context(),
		metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	s.run(newClient(t, c), s.options())
	s.check("lives < solid", "solid")
	var order []string
	for e := range watch.ResultChan() {
		if e.Type != "DELETED" {
			continue
		}
		name := e.Object.(metav1.Object).GetName()
		order = append(order, name)
		if name == "f" {
			break
		}
	}
	for _, name := range blocking {
		if !slices.Contains(order, name) {
			t.Errorf("f was gone before %s: %v", name, order)
		}
	}
}

// TestConcurrentChangesAreKept_P07 has somebody else change the lists that the loop changes, at the
// same time.
func TestConcurrentChangesAreKept_P07(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, target string
		make, do     func(*fixture)
		left         []string
	}{
		{"a reference is added", "a", func(s *fixture) { s.make("s1", "s2", "a < nobody s1") },
			func(s *fixture) { s.own("a", "s2+") }, []string{"a < s1 s2+", "s1", "s2"}},
		{"a finalizer is added", "a", func(s *fixture) { s.make("s1", "a < s1 nobody | example.com/z example.com/b") },
			func(s *fixture) {
				s.patch("a", `{"metadata":{"finalizers":["example.com/z","example.com/b","`+hold+`"]}}`)
			},
			[]string{"a < s1 | example.com/z example.com/b " + hold, "s1"}},
		{"a finalizer is removed", "a", func(s *fixture) {
			s.make("a | example.com/z example.com/b " + hold)
			s.delete(plan.Foreground, "a")
		}, func(s *fixture) {
			s.patch("a", `{"metadata":{"finalizers":["example.com/z","`+hold+`","foregroundDeletion"]}}`)
		}, []string{"-a | example.com/z " + hold}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			s := newFixture(t, c)
			tt.make(s)
			proxy, client := proxied(t, c)
			done := before(proxy, writesTo(http.MethodPatch, tt.target), func() { tt.do(s) })
			s.run(client, s.options())
			if !done() {
				t.Fatal("there was no write to come before")
			}
			s.check(tt.left...)
		})
	}
}
