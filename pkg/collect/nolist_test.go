package collect

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// lists are the paths of the lists among requests.
func lists(requests []faultproxy.Request) []string {
	var paths []string
	for _, r := range requests {
		if r.Method == http.MethodGet && r.Query.Has("limit") {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// watches counts the watches of a type that were begun.
func watches(proxy *faultproxy.Proxy, of string) int {
	n := 0
	for _, r := range proxy.Requests() {
		if r.Query.Get("watch") == "true" && strings.HasSuffix(r.Path, of) {
			n++
		}
	}
	return n
}

// TestWatchListsNothingAfterItsStart: objects and owners come and go, cascades run, watches break
// and are resumed, and what there is to collect comes from the watches alone.
func TestWatchListsNothingAfterItsStart(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	proxy, client := proxied(t, c)
	opts := s.options()
	// of a restricted listing the other namespaces are asked for what is absent
	opts.List.Namespace, opts.AllowOwnerLoss = "", true
	opts.Settle = 10 * time.Millisecond
	s.make("owner", "dependent < owner")
	w := watchOver(t, client, opts)
	before := len(proxy.Requests())
	for i := range 5 {
		s.make(fmt.Sprintf("a%d", i), fmt.Sprintf("b%d < a%d", i, i), fmt.Sprintf("c%d < b%d+", i, i),
			fmt.Sprintf("x%d < nobody owner", i))
		s.delete("Background", fmt.Sprintf("a%d", i))
		if i == 2 {
			proxy.Cut()
		}
		s.untilLeft(2 + i + 1)
	}
	testcluster.Eventually(t, "the references to nobody are removed", func(context.Context) (bool, error) {
		return !strings.Contains(strings.Join(s.left(), " "), "nobody"), nil
	})
	s.delete("Background", "owner")
	s.untilLeft(0)
	// which other tests define
	again := slices.DeleteFunc(lists(proxy.Requests()[before:]),
		func(path string) bool { return strings.Contains(path, ".example.com/") })
	if len(again) > 0 {
		t.Errorf("listed again: %v", again)
	}
	if paused := w.pauses(); len(paused) > 0 && paused[len(paused)-1] != nil {
		t.Errorf("paused %v", paused)
	}
}

// TestWatchListsATypeAgainWhoseWatchHasExpired: the server has forgotten what has happened since
// (410). That type is listed again, and no other.
func TestWatchListsATypeAgainWhoseWatchHasExpired(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	proxy, client := proxied(t, c)
	opts := s.options()
	opts.Settle = 10 * time.Millisecond
	watchOver(t, client, opts)
	testcluster.Eventually(t, "config maps are watched",
		func(context.Context) (bool, error) { return watches(proxy, "/configmaps") > 0, nil })
	expired := faultproxy.Status(http.StatusGone, "Expired", "too old resource version")
	proxy.On(faultproxy.Watches("/configmaps"), faultproxy.Times(1, expired))
	before := len(proxy.Requests())
	s.make("missed")
	proxy.Cut()
	s.make("owner", "a < missed", "b < owner", "c < nobody")
	s.untilLeft(4)
	s.delete("Background", "missed", "owner")
	s.untilLeft(0)
	for _, path := range lists(proxy.Requests()[before:]) {
		if path != "/api/v1/namespaces/"+s.namespace+"/configmaps" && path != "/api/v1/configmaps" {
			t.Errorf("listed %s", path)
		}
	}
}

// TestWatchDoesNotReleaseAnOwnerWhoseDependentsAWatchHasNotShownYet: the watch of secrets is
// silent. Owners that wait for dependents, to orphan them and in the foreground, keep their
// finalizers until they have heard of them.
func TestWatchDoesNotReleaseAnOwnerWhoseDependentsAWatchHasNotShownYet(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	proxy, client := proxied(t, c)
	resume := make(chan struct{})
	proxy.On(faultproxy.Watches("/secrets"), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		_ = http.NewResponseController(w).Flush() // it is open, and shows nothing
		select {
		case <-resume:
		case <-r.Context().Done():
		}
	})
	opts := s.options()
	opts.Settle = 10 * time.Millisecond
	w := watchOver(t, client, opts)
	testcluster.Eventually(t, "secrets are watched",
		func(context.Context) (bool, error) { return watches(proxy, "/secrets") > 0, nil })
	s.make("spares", "waits")
	s.secret("spared", "spares")
	s.secret("deleted", "waits+")
	s.delete("Orphan", "spares")
	s.delete("Foreground", "waits")
	for len(w.runs) > 0 {
		<-w.runs
	}
	s.make("probe < nobody")
	testcluster.Eventually(t, "a pass has seen all that",
		func(context.Context) (bool, error) { return len(s.left()) == 2, nil })
	if left := strings.Join(s.left(), ", "); left != "-spares | orphan, -waits | foregroundDeletion" {
		t.Errorf("left %s", left)
	}
	proxy.On(faultproxy.Watches("/secrets"),
		func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) })
	close(resume)
	s.untilLeft(0)
	if left := s.secrets(); len(left) != 1 || left[0] != "spared" {
		t.Errorf("left secrets %v", left)
	}
}

// TestWatchMissesNothingOfAnOutage: the server cannot be reached for a while, in which owners go,
// owners and dependents come, and one is given another owner. Nothing is missed, nothing is deleted
// that should live, and nothing is listed again: the watches resume where they were.
func TestWatchMissesNothingOfAnOutage(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	proxy, client := proxied(t, c)
	opts := s.options()
	// of a restricted listing the other namespaces are asked for what is absent
	opts.List.Namespace, opts.AllowOwnerLoss = "", true
	opts.Settle, opts.Retry, opts.RetryMost = 10*time.Millisecond, 10*time.Millisecond, 100*time.Millisecond
	s.make("goes", "stays", "a < goes", "b < goes stays", "c < goes", "d < stays")
	watchOver(t, client, opts)
	testcluster.Eventually(t, "config maps are watched",
		func(context.Context) (bool, error) { return watches(proxy, "/configmaps") > 0, nil })
	before := len(proxy.Requests())
	var down atomic.Bool
	down.Store(true)
	proxy.On(func(*http.Request) bool { return down.Load() }, faultproxy.Reset())
	proxy.Cut()
	s.delete("Background", "goes")
	s.own("c", "stays")
	s.make("new", "e < new", "f < nobody", "short", "g < short")
	s.delete("Background", "short")
	down.Store(false)
	want := []string{"b < stays", "c < stays", "d < stays", "e < new", "new", "stays"}
	testcluster.Eventually(t, "what is due is collected",
		func(context.Context) (bool, error) { return slices.Equal(s.left(), want), nil })
	if again := lists(proxy.Requests()[before:]); len(again) > 0 {
		t.Errorf("listed again: %v", again)
	}
}
