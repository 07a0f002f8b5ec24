package collect

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	kinds "github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// untilLeftIs waits until what is left is as said, and checks that a run that begins with a listing
// has nothing to add to it.
func (s *fixture) untilLeftIs(want ...string) {
	s.t.Helper()
	slices.Sort(want)
	var left []string
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("left, other than wanted (-want +got):\n%s", cmp.Diff(want, left))
		}
	})
	testcluster.Eventually(s.t, "what is left is as wanted", func(context.Context) (bool, error) {
		left = s.left()
		return slices.Equal(left, want), nil
	})
}

// roleUser is a user who may do everything by a role. A server that has just started refuses it for
// a moment, because it has not read the roles yet.
func roleUser(t *testing.T, c *testcluster.Cluster) *rest.Config {
	t.Helper()
	c.Kubectl(t, "create", "clusterrolebinding", "restart-ann", "--clusterrole=cluster-admin", "--user=restart-ann")
	client, err := cluster.New(c.As("restart-ann"), 0)
	if err != nil {
		t.Fatal(err)
	}
	testcluster.Eventually(t, "the role is known", func(context.Context) (bool, error) {
		_, err := client.ListNames(t.Context(), graph.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}, "")
		return err == nil, nil
	})
	return c.As("restart-ann")
}

// TestWatchMissesNothingWhileTheServerIsRestarted: the server is killed right after objects were
// deleted, three times, and others are made and deleted as soon as it is back, before the watches
// are. Its watch cache begins anew each time, so that no watch can go on from where it was.
func TestWatchMissesNothingWhileTheServerIsRestarted(t *testing.T) {
	// It takes more than 10 s beside others: an API server is started three times.
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers())
	s := newFixture(t, c)
	const rounds = 3
	s.make("solid")
	want := []string{"solid"}
	for i := range rounds {
		for _, format := range []string{"before%d", "after%d", "kept%d"} {
			owner := fmt.Sprintf(format, i)
			s.make(owner, "a-"+owner+" < "+owner, "b-"+owner+" < a-"+owner, "c-"+owner+" < solid "+owner)
		}
		want = append(want, fmt.Sprintf("kept%d", i), fmt.Sprintf("a-kept%d < kept%d", i, i),
			fmt.Sprintf("b-kept%d < a-kept%d", i, i),
			fmt.Sprintf("c-kept%d < solid kept%d", i, i), fmt.Sprintf("c-before%d < solid", i),
			fmt.Sprintf("c-after%d < solid", i))
	}
	opts := s.options()
	opts.Settle, opts.Retry, opts.RetryMost = 10*time.Millisecond, 10*time.Millisecond, 100*time.Millisecond
	client, err := cluster.New(roleUser(t, c), 0)
	if err != nil {
		t.Fatal(err)
	}
	watchOver(t, client, opts)
	for i := range rounds {
		s.delete(plan.Background, fmt.Sprintf("before%d", i))
		c.StopAPIServer(t)
		c.StartAPIServer(t)
		late, orphans, waits := fmt.Sprintf("late%d", i), fmt.Sprintf("orphans%d", i), fmt.Sprintf("waits%d", i)
		s.delete(plan.Background, fmt.Sprintf("after%d", i))
		s.make(late, "a-"+late+" < "+late, orphans, "a-"+orphans+" < "+orphans, waits, "a-"+waits+" < "+waits+"+",
			"b-"+waits+" < a-"+waits+"+ solid")
		s.delete(plan.Background, late)
		s.delete(plan.Orphan, orphans)
		s.delete(plan.Foreground, waits)
		want = append(want, "a-"+orphans, "b-"+waits+" < solid")
	}
	s.untilLeftIs(want...)
	if result, _ := s.run(client, s.options()); result.Writes > 0 {
		t.Errorf("%d writes were left", result.Writes)
	}
}

// TestWatchAfterAnOutageInWhichTheServerWasRestarted: the loop cannot reach the server, which
// meanwhile is restarted and changed. No watch can go on, and no event tells what happened: an
// owner was deleted, and another was created again under its name, with dependents; a definition
// was, too.
func TestWatchAfterAnOutageInWhichTheServerWasRestarted(t *testing.T) {
	// It takes more than 10 s beside others: an API server is stopped and started.
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers())
	s := newFixture(t, c)
	define := func() string {
		kinds.Define(t, c, kinds.Kind{Group: "collect.example.com", Kind: "Owner"})
		c.Apply(t, "apiVersion: collect.example.com/v1\nkind: Owner\nmetadata: {name: custom}\n", "-n", s.namespace)
		return c.Kubectl(t, "get", "owners.collect.example.com", "custom", "-n", s.namespace, "-o",
			"jsonpath={.metadata.uid}")
	}
	s.make("solid", "gone", "old < gone", "shared < gone solid", "again", "before < again", "grand < before", "waits",
		"w < waits+", "orphans", "o < orphans")
	c.Apply(t, ownedBy("of-custom", "custom", define()), "-n", s.namespace)
	proxy, client := proxied(t, c)
	var down atomic.Bool
	proxy.On(func(*http.Request) bool { return down.Load() }, faultproxy.Reset())
	opts := s.options()
	opts.Settle, opts.Retry, opts.RetryMost = 10*time.Millisecond, 10*time.Millisecond, 100*time.Millisecond
	watchOver(t, client, opts)
	down.Store(true)
	proxy.Cut()
	c.StopAPIServer(t)
	c.StartAPIServer(t)
	s.delete(plan.Background, "gone", "again")
	s.make("again", "after < again", "new", "n < new", "late < waits+ solid", "late-o < orphans")
	s.delete(plan.Foreground, "waits")
	s.delete(plan.Orphan, "orphans")
	s.delete(plan.Background, "new")
	c.Kubectl(t, "delete", "crd", "owners.collect.example.com")
	c.Apply(t, ownedBy("of-new-custom", "custom", define()), "-n", s.namespace)
	c.StopAPIServer(t)
	c.StartAPIServer(t)
	down.Store(false)
	s.untilLeftIs("solid", "shared < solid", "again", "after < again", "late < solid", "o", "late-o",
		"of-new-custom < custom")
	if result, _ := s.run(client, s.options()); result.Writes > 0 {
		t.Errorf("%d writes were left", result.Writes)
	}
}

// TestWatchGoesOnAfterAMomentWithoutPermissions: a server that has just started has not read the
// roles yet, and forbids discovery with all else. It is said once, and what came up meanwhile is
// collected.
func TestWatchGoesOnAfterAMomentWithoutPermissions(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	proxy, client := proxied(t, c)
	var forbidden atomic.Bool
	var asked atomic.Int32
	proxy.On(func(r *http.Request) bool {
		if forbidden.Load() && r.URL.Path == "/api" && asked.Add(1) == 3 {
			forbidden.Store(false)
		}
		return forbidden.Load()
	}, faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "the roles are not read yet"))
	opts := s.options()
	opts.Settle, opts.Retry, opts.RetryMost = 10*time.Millisecond, 10*time.Millisecond, 100*time.Millisecond
	opts.Rediscover = time.Nanosecond
	s.make("waits", "dependent < waits+")
	w := watchOver(t, client.WithPollInterval(20*time.Millisecond), opts)
	s.make("probe < nobody")
	s.untilLeft(2) // so that the config maps are watched
	forbidden.Store(true)
	s.delete(plan.Foreground, "waits")
	s.untilLeft(0)
	if paused := w.until(2); len(paused) != 2 || paused[0] == nil || paused[1] != nil {
		t.Errorf("paused %v", paused)
	}
}
