package collect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWhatAPolicyPutsBackInTheSameRequestIsAFailure: the server answers each write with 200, and
// nothing has come of it. It is told as a failure that names the policy, is not sent time and
// again, and nothing that needed it is done.
func TestWhatAPolicyPutsBackInTheSameRequestIsAFailure(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		make func(*fixture)
		verb plan.Verb
		left []string
	}{
		{"a reference to an absent owner", func(s *fixture) { s.make("solid", "a < nobody solid") }, plan.VerbOrphan,
			[]string{"a < nobody solid", "solid"}},
		{"a reference to an owner that orphans", func(s *fixture) { s.make("o", "a < o"); s.delete(plan.Orphan, "o") },
			plan.VerbOrphan,
			[]string{"-o | orphan", "a < o"}},
		{"blockOwnerDeletion", func(s *fixture) {
			s.make("a", "b < a+", "c < b+")
			s.own("a", "c+")
			s.delete(plan.Foreground, "a")
		}, plan.VerbUnblock, []string{"-a < c+ | foregroundDeletion", "-b < a+ | foregroundDeletion", "c < b+"}},
		{"the finalizer orphan", func(s *fixture) { s.make("o"); s.delete(plan.Orphan, "o") }, plan.VerbRemoveFinalizer,
			[]string{"-o | orphan"}},
		{"the finalizer foregroundDeletion", func(s *fixture) { s.make("f"); s.delete(plan.Foreground, "f") },
			plan.VerbRemoveFinalizer,
			[]string{"-f | foregroundDeletion"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			s := newFixture(t, c)
			tt.make(s)
			policy := c.PutBack(t, s.namespace)
			proxy, client := proxied(t, c)
			opts := s.options()
			events := record(&opts)
			result, err := New(client, opts).Run(bounded(t, proxy))
			if err != nil {
				t.Fatal(err)
			}
			var failed []plan.Event
			for _, e := range *events {
				if e.Action.Verb != tt.verb {
					continue
				}
				var back *cluster.PutBackError
				if !errors.As(e.Err, &back) || !slices.Contains(back.Mutators, policy) {
					t.Errorf("%s %s: %v, want that %s put it back", e.Action.Verb, e.Action.Object.Name, e.Err, policy)
				}
				failed = append(failed, e)
			}
			if len(failed) == 0 || len(failed) > maxFailures {
				t.Errorf("told as failed %d times: %v", len(failed), *events)
			}
			if n := proxy.Count(http.MethodPatch, ""); n != len(failed) {
				t.Errorf("%d patches, want one for each of %d failures", n, len(failed))
			}
			if result.Writes != 0 {
				t.Errorf("the last pass counts %d writes", result.Writes)
			}
			s.check(tt.left...)
		})
	}
}

// bounded is a context that ends when more is patched than anybody can need, and not when the test
// does.
func bounded(t *testing.T, proxy *faultproxy.Proxy) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	proxy.On(isWrite, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if proxy.Count(http.MethodPatch, "") > 20 {
			cancel(errors.New("there is no end to the patches"))
		}
		next.ServeHTTP(w, r)
	})
	return ctx
}

// TestWhatAControllerPutsBackLaterEndsTheWritesInTheEnd: a controller puts a reference back after
// each patch that has removed it. The loop gives up after a few, names the controller, and does not
// begin again when a change wakes it.
func TestWhatAControllerPutsBackLaterEndsTheWritesInTheEnd(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("o")
	// The server keeps managedFields of what was applied.
	c.Apply(t, fmt.Sprintf(
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: o, uid: %s}]}, data: {a: b}}`,
		s.uids["o"]), "-n", s.namespace)
	s.delete(plan.Orphan, "o")
	proxy, client := proxied(t, c)
	ctx := bounded(t, proxy)
	var once sync.Mutex
	proxy.On(writesTo(http.MethodPatch, "a"), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		once.Lock()
		defer once.Unlock()
		next.ServeHTTP(w, r)
		back := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":%q}]}}`,
			s.uids["o"])
		_, err := s.client.CoreV1().ConfigMaps(s.namespace).Patch(t.Context(), "a", types.MergePatchType, []byte(back),
			metav1.PatchOptions{FieldManager: "stubborn"})
		if err != nil {
			t.Error(err)
		}
	})
	opts := s.options()
	events := record(&opts)
	loop := New(client, opts)
	for range 3 { // as a watch does after each change
		if _, err := loop.Run(ctx); err != nil {
			t.Fatal(err)
		}
		clear(loop.failed)
	}
	if n := proxy.Count(http.MethodPatch, ""); n != maxWrites {
		t.Errorf("%d patches, want %d", n, maxWrites)
	}
	var failed []string
	for _, e := range *events {
		if e.Err != nil {
			failed = append(failed, e.Err.Error())
		}
	}
	if len(failed) != 1 || !strings.Contains(failed[0], fmt.Sprintf(`was put back %d times by "stubborn"`, maxWrites)) {
		t.Errorf("failures %q, want one that names the manager", failed)
	}
	s.check("-o | orphan", "a < o")

	// Another owner of the same object is not given up.
	s.make("p")
	s.own("a", "p")
	s.delete(plan.Orphan, "p")
	if _, err := loop.Run(ctx); err != nil {
		t.Fatal(err)
	}
	s.check("-o | orphan", "a < o")
}

// TestWhatIsCreatedAgainAndAgainIsGivenUp: something creates an object without a live owner as
// often as it is deleted. A run ends; a later one, long after, deletes it again.
func TestWhatIsCreatedAgainAndAgainIsGivenUp(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("a < nobody")
	proxy, client := proxied(t, c)
	var deletes atomic.Int32
	ctx, cancel := context.WithCancelCause(t.Context())
	proxy.On(writesTo(http.MethodDelete, "a"), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(w, r)
		if deletes.Add(1) > 20 {
			cancel(errors.New("there is no end to the deletes"))
		}
		s.make("a < nobody")
	})
	opts := s.options()
	opts.Agree = AgreeToAll
	events := record(&opts)
	loop := New(client, opts)
	if _, err := loop.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if n := deletes.Load(); n != maxWrites {
		t.Errorf("%d deletes, want %d", n, maxWrites)
	}
	if last := (*events)[len(*events)-1]; last.Err == nil ||
		!strings.Contains(last.Err.Error(), "created again each time") {
		t.Errorf("the last event is %v, want that it is created again", last)
	}
	if _, err := loop.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if n := deletes.Load(); n != 2*maxWrites {
		t.Errorf("%d deletes after the second run, want %d", n, 2*maxWrites)
	}
}
