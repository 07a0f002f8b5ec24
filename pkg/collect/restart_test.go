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

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	kinds "github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// untilLeftIs waits until what is left is as said, and checks that a run that begins with a listing has nothing to add to it.
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

// TestWatchMissesNothingWhileTheServerIsRestarted: the server is killed right after objects were deleted, three times, and others are made and deleted as
// soon as it is back, before the watches are. Its watch cache begins anew each time, so that no watch can go on from where it was.
func TestWatchMissesNothingWhileTheServerIsRestarted(t *testing.T) {
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
		want = append(want, fmt.Sprintf("kept%d", i), fmt.Sprintf("a-kept%d < kept%d", i, i), fmt.Sprintf("b-kept%d < a-kept%d", i, i),
			fmt.Sprintf("c-kept%d < solid kept%d", i, i), fmt.Sprintf("c-before%d < solid", i), fmt.Sprintf("c-after%d < solid", i))
	}
	opts := s.options()
	opts.Settle, opts.Retry, opts.RetryMost = 10*time.Millisecond, 10*time.Millisecond, 100*time.Millisecond
	client := newClient(t, c)
	watchOver(t, client, opts)
	for i := range rounds {
		s.delete(plan.Background, fmt.Sprintf("before%d", i))
		c.StopAPIServer(t)
		c.StartAPIServer(t)
		late, orphans, waits := fmt.Sprintf("late%d", i), fmt.Sprintf("orphans%d", i), fmt.Sprintf("waits%d", i)
		s.delete(plan.Background, fmt.Sprintf("after%d", i))
		s.make(late, "a-"+late+" < "+late, orphans, "a-"+orphans+" < "+orphans, waits, "a-"+waits+" < "+waits+"+", "b-"+waits+" < a-"+waits+"+ solid")
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

// TestWatchAfterAnOutageInWhichTheServerWasRestarted: the loop cannot reach the server, which meanwhile is restarted and changed. No watch can go on, and no
// event tells what happened: an owner was deleted, and another was created again under its name, with dependents; a definition was, too.
func TestWatchAfterAnOutageInWhichTheServerWasRestarted(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers())
	s := newFixture(t, c)
	define := func() string {
		kinds.Define(t, c, kinds.Kind{Group: "collect.example.com", Kind: "Owner"})
		c.Apply(t, "apiVersion: collect.example.com/v1\nkind: Owner\nmetadata: {name: custom}\n", "-n", s.namespace)
		return c.Kubectl(t, "get", "owners.collect.example.com", "custom", "-n", s.namespace, "-o", "jsonpath={.metadata.uid}")
	}
	s.make("solid", "gone", "old < gone", "shared < gone solid", "again", "before < again", "grand < before", "waits", "w < waits+", "orphans", "o < orphans")
	c.Apply(t, ownedBy("of-custom", "custom", define()), "-n", s.namespace)
	proxy, client := proxied(t, c)
	var down atomic.Bool
	proxy.On(func(*http.Request) bool { return down.Load() }, func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) })
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
	s.untilLeftIs("solid", "shared < solid", "again", "after < again", "late < solid", "o", "late-o", "of-new-custom < custom")
	if result, _ := s.run(client, s.options()); result.Writes > 0 {
		t.Errorf("%d writes were left", result.Writes)
	}
}
