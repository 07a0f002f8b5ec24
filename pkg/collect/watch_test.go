package collect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var deleteNow = metav1.DeleteOptions{}

func lookup(t *testing.T, g *graph.Graph, uids ...string) []graph.ID {
	t.Helper()
	var ids []graph.ID
	for _, uid := range uids {
		id, ok := g.Lookup(uid)
		if !ok {
			t.Fatalf("no object %s", uid)
		}
		ids = append(ids, id)
	}
	return ids
}

// watching is a loop that watches.
type watching struct {
	t    *testing.T
	loop *Loop
	// runs has an entry after each run that Watch has made, unless nobody takes them.
	runs   chan struct{}
	ended  chan error
	cancel context.CancelFunc

	mu     sync.Mutex
	paused []error
}

// watchOver begins to watch as a collector does, and waits for the first run, or until that is
// paused. It ends with the test.
func watchOver(t *testing.T, client *cluster.Client, opts Options) *watching {
	t.Helper()
	w := &watching{t: t, runs: make(chan struct{}, 100), ended: make(chan error, 1)}
	paused := make(chan struct{})
	if opts.Agree == nil {
		opts.Agree = AgreeToAll
	}
	opts.Paused = func(err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.paused = append(w.paused, err); len(w.paused) == 1 {
			close(paused)
		}
	}
	w.loop = New(client, opts)
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(t.Context())
	go func() {
		_, err := w.loop.watch(ctx, func(*Result) bool {
			select {
			case w.runs <- struct{}{}:
			default:
			}
			return false
		}, false)
		w.ended <- err
	}()
	t.Cleanup(func() {
		w.cancel()
		select {
		case <-w.ended:
		case <-time.After(time.Minute):
			t.Error("the watch does not end")
		}
	})
	select {
	case <-w.runs:
	case <-paused:
	case err := <-w.ended:
		w.ended <- err
		t.Fatal(err)
	}
	return w
}

// pauses are what Paused was called with so far.
func (w *watching) pauses() []error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]error(nil), w.paused...)
}

// until waits for the number of calls of Paused.
func (w *watching) until(n int) []error {
	w.t.Helper()
	testcluster.Eventually(w.t, fmt.Sprintf("Paused was called %d times", n),
		func(context.Context) (bool, error) { return len(w.pauses()) >= n, nil })
	return w.pauses()
}

// untilLeft waits until that many objects are left.
func (s *fixture) untilLeft(n int) {
	s.t.Helper()
	testcluster.Eventually(s.t, fmt.Sprintf("%d objects are left", n),
		func(context.Context) (bool, error) { return len(s.left()) == n, nil })
}

// TestWatchDoesNotCollectARestoredBackup: twenty objects are restored, whose owners have other uids
// now. The pass is refused and told of, once, and the watch goes on: when they are gone it collects
// again.
func TestWatchDoesNotCollectARestoredBackup(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	opts := s.options()
	opts.Settle = 2 * time.Second
	w := watchOver(t, newClient(t, c), opts)
	for i := range 20 {
		owner := fmt.Sprintf("owner%02d", i)
		s.make(owner)
		s.uids[owner] = types.UID("before-" + owner)
	}
	var restored []string
	for i := range 20 {
		restored = append(restored, fmt.Sprintf("restored%02d", i))
		s.make(fmt.Sprintf("%s < owner%02d", restored[i], i))
	}
	var loss *OwnerLossError
	// How many of the 20 the pass has seen is a matter of time: on a busy machine it begins before
	// all are made.
	if paused := w.until(1); !errors.As(paused[0], &loss) || loss.Losses[0].Replaced == 0 {
		t.Fatalf("paused because of %v", paused)
	}
	// The first one or two are no owner loss, where a busy machine takes longer to make the third than
	// the watch waits.
	left := len(s.left())
	if left < 38 {
		t.Errorf("%d left of 40", left)
	}
	s.make("another < nobody") // which is in an owner loss of the same kind
	before := len(s.left())
	s.patch("another", `{"metadata":{"labels":{"x":"y"}}}`)
	for _, name := range restored {
		// The last of them may be collected: one or two are no owner loss.
		if err := s.client.CoreV1().ConfigMaps(s.namespace).Delete(t.Context(), name, deleteNow); err != nil &&
			!apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	s.untilLeft(20)
	if paused := w.until(2); len(paused) != 2 || paused[1] != nil || before != left+1 {
		t.Errorf("paused %v, %d left of %d", paused, before, left+1)
	}
}

// TestWatchStopsABackupThatIsRestoredSlowly: each pass sees one of twenty objects. The first two
// are no owner loss yet.
func TestWatchStopsABackupThatIsRestoredSlowly(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	opts := s.options()
	opts.Settle = 10 * time.Millisecond
	for i := range 20 {
		s.make(fmt.Sprintf("owner%02d", i))
	}
	w := watchOver(t, newClient(t, c), opts)
	for i := range 20 {
		owner := fmt.Sprintf("owner%02d", i)
		s.uids[owner] = types.UID("before-" + owner)
		s.make(fmt.Sprintf("restored%02d < %s", i, owner))
		testcluster.Eventually(t, "it is collected or the watch paused", func(context.Context) (bool, error) {
			return len(s.left()) == 20 || len(w.pauses()) > 0, nil
		})
	}
	if left, paused := s.left(), w.pauses(); len(left) != 38 || len(paused) != 1 {
		t.Errorf("%d left of 40, paused %v", len(left), paused)
	}
}

// TestWatchStopsABackupThatComesWhileItStarts: an object is restored during each write, so that the
// first run does not end before twenty have come.
func TestWatchStopsABackupThatComesWhileItStarts(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	for i := range 20 {
		owner := fmt.Sprintf("owner%02d", i)
		s.make(owner)
		s.uids[owner] = types.UID("before-" + owner)
	}
	s.make("old < nobody")
	proxy, client := proxied(t, c)
	var came atomic.Int32
	var writes sync.Map
	proxy.On(isWrite, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if _, again := writes.LoadOrStore(path.Base(r.URL.Path), true); !again {
			if i := came.Add(1) - 1; i < 20 {
				s.make(fmt.Sprintf("restored%02d < owner%02d", i, i))
			}
		}
		next.ServeHTTP(w, r)
	})
	w := watchOver(t, client, s.options())
	var loss *OwnerLossError
	if paused := w.until(1); !errors.As(paused[0], &loss) {
		t.Errorf("paused because of %v", paused)
	}
	if came.Load() != 3 {
		writes.Range(func(name, _ any) bool { t.Errorf("%s was written", name); return true })
		t.Error("want a write of the old object and of two that are no owner loss yet")
	}
}

// TestWatchCollectsAfterOwnersThatItSawDeleted: whoever deletes twelve owners while the loop
// watches has deleted them; that is no owner loss to stop for.
func TestWatchCollectsAfterOwnersThatItSawDeleted(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	var owners []string
	for i := range 12 {
		owners = append(owners, fmt.Sprintf("o%02d", i))
		s.make(owners[i], fmt.Sprintf("d%02d < %s", i, owners[i]))
	}
	opts := s.options()
	opts.Settle = 2 * time.Second
	w := watchOver(t, newClient(t, c), opts)
	s.delete("Background", owners...)
	s.untilLeft(0)
	if paused := w.pauses(); len(paused) > 0 {
		t.Errorf("paused %v", paused)
	}
}

// TestWatchGoesOnWhenTheServerAnswersAgain: discovery answers with 502, 503, or without the core
// group for a while. It is said once.
func TestWatchGoesOnWhenTheServerAnswersAgain(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]faultproxy.Fault{
		"502":           faultproxy.Plain(http.StatusBadGateway, "bad gateway\n"),
		"503":           faultproxy.Status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "starting"),
		"no core group": faultproxy.Plain(http.StatusNotFound, "404 page not found\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			s := newFixture(t, c)
			proxy, client := proxied(t, c)
			var broken atomic.Bool
			var asked atomic.Int32
			proxy.On(func(r *http.Request) bool { return r.URL.Path == "/api" && broken.Load() },
				func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					if asked.Add(1) == 4 {
						broken.Store(false)
					}
					fault(w, r, next)
				})
			opts := s.options()
			opts.Settle, opts.Retry, opts.RetryMost = 10*time.Millisecond, 10*time.Millisecond, 40*time.Millisecond
			opts.Rediscover = time.Nanosecond
			w := watchOver(t, client, opts)
			broken.Store(true)
			s.make("a < nobody")
			s.untilLeft(0)
			if paused := w.until(2); len(paused) != 2 || paused[0] == nil || paused[1] != nil {
				t.Errorf("paused %v", paused)
			}
		})
	}
}

// TestWatchLooksAgainAtWhatCouldNotBeListed: the watches have expired, and the lists that are to
// take their place are answered with 502, of all types or of one. Nothing else changes afterwards,
// and what came up is collected all the same.
func TestWatchLooksAgainAtWhatCouldNotBeListed(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]string{"all types": "", "one type": "/configmaps"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			s := newFixture(t, c)
			proxy, client := proxied(t, c)
			var broken atomic.Bool
			isList := func(r *http.Request) bool {
				return broken.Load() && r.URL.Query().Get("watch") == "" && r.URL.Query().Get("limit") != "" &&
					strings.HasSuffix(r.URL.Path, of)
			}
			var failed atomic.Int32
			proxy.On(isList, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
				failed.Add(1)
				http.Error(w, "bad gateway", http.StatusBadGateway)
			})
			proxy.On(func(r *http.Request) bool {
				return broken.Load() && r.URL.Query().Get("watch") == "true" && strings.HasSuffix(r.URL.Path, of)
			}, faultproxy.Status(http.StatusGone, metav1.StatusReasonExpired, "too old resource version"))
			opts := s.options()
			opts.Settle, opts.Retry, opts.RetryMost = 10*time.Millisecond, 10*time.Millisecond, 40*time.Millisecond
			watchOver(t, client, opts)
			broken.Store(true)
			proxy.Cut()
			s.make("a < nobody")
			testcluster.Eventually(t, "a list has failed", func(context.Context) (bool, error) { return failed.Load() > 0, nil })
			broken.Store(false)
			s.untilLeft(0)
		})
	}
}

// TestWatchEndsWhenWaitingCannotHelp: credentials that are not taken any more, and rights to
// nothing at all.
func TestWatchEndsWhenWaitingCannotHelp(t *testing.T) {
	// It takes more than 10 s beside others: the loop tries again until it is clear that waiting
	// does not help.
	t.Parallel()
	unauthorized := faultproxy.Status(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
	forbidden := faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "forbidden")
	anything := func(*http.Request) bool { return true }
	lists := func(r *http.Request) bool { return r.URL.Path != "/api" && r.URL.Path != "/apis" }
	for name, tt := range map[string]struct {
		fault   faultproxy.Fault
		matches func(*http.Request) bool
		wants   func(error) bool
	}{
		"401 on everything": {unauthorized, anything, apierrors.IsUnauthorized},
		"401 on lists":      {unauthorized, lists, apierrors.IsUnauthorized},
		"403 on everything": {forbidden, anything,
			func(err error) bool { return strings.Contains(err.Error(), "forbidden") }},
		"403 on what it lists": {forbidden, lists, func(err error) bool { // which the watches may find out first
			return errors.As(err, new(*cluster.UnseenError)) || strings.Contains(err.Error(), "no type can be listed")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			s := newFixture(t, c)
			proxy, client := proxied(t, c)
			var broken atomic.Bool
			var once sync.Once
			watched := make(chan struct{})
			proxy.On(func(r *http.Request) bool {
				refused := broken.Load() && tt.matches(r) // before the test goes on
				if r.URL.Query().Get("watch") == "true" && strings.HasSuffix(r.URL.Path, "/configmaps") {
					once.Do(func() { close(watched) })
				}
				return refused
			}, tt.fault)
			opts := s.options()
			opts.Settle, opts.Retry, opts.RetryMost = 10*time.Millisecond, 10*time.Millisecond, 10*time.Millisecond
			w := watchOver(t, client, opts)
			select { // the pass that the change causes is to meet the fault, and not a watch that has yet to begin
			case <-watched:
			case err := <-w.ended:
				w.ended <- err
				t.Fatal(err)
			}
			broken.Store(true)
			proxy.Cut() // a watch that is open is not asked for again
			s.make("a < nobody")
			err := <-w.ended
			w.ended <- err
			if !tt.wants(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestWatchListsWhereItMayNotWatch: the right to watch is missing, for a type or for all.
func TestWatchListsWhereItMayNotWatch(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	proxy, client := proxied(t, c)
	proxy.On(func(r *http.Request) bool { return r.URL.Query().Get("watch") == "true" },
		faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "cannot watch"))
	opts := s.options()
	opts.Settle = 10 * time.Millisecond
	s.make("owner", "kept < owner")
	watchOver(t, client.WithPollInterval(20*time.Millisecond), opts)
	s.make("a < nobody")
	s.untilLeft(2)
	s.delete("Background", "owner")
	s.untilLeft(0)
	for _, r := range proxy.Requests() {
		if strings.Contains(r.Path, "/pods") && !strings.Contains(r.Path, "/namespaces/"+s.namespace+"/") {
			t.Errorf("%s %s is wider than what the loop works on", r.Method, r.Path)
		}
	}
}

// TestWatchForgetsWhatIsNoMore: generations of owners and dependents come and go, with each kind of
// write, and a refused one; what the loop remembers is no more after the last than after the third.
func TestWatchForgetsWhatIsNoMore(t *testing.T) {
	// It takes more than 10 s: memory is compared over generations, each of which has to be
	// collected.
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	opts := s.options()
	opts.Agree = AgreeToAll
	opts.Observe = time.Second
	opts.Warned = func(graph.Ref, error) {}
	loop := New(newClient(t, c), opts)
	var sizes []int
	const generations = 6
	for i := range generations {
		n := func(format string) string { return strings.ReplaceAll(format, "#", fmt.Sprint(i)) }
		s.make(n("solid#"), n("a# < nobody#"), n("b# < a#"), n("shared# < solid# nobody#"), n("o#"), n("spared# < o#"),
			n("f#"), n("c# < f#+"))
		s.delete("Orphan", n("o#"))
		s.delete("Foreground", n("f#"))
		if _, err := loop.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.delete("Background", n("solid#"), n("spared#"))
		if _, err := loop.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.check()
		if _, err := loop.run(t.Context()); err != nil { // which lists without them
			t.Fatal(err)
		}
		sizes = append(sizes, loop.remembered()-len(loop.written)-len(loop.own)+len(loop.witnessed))
	}
	if last, third := sizes[generations-1], sizes[2]; last > third {
		t.Errorf("the loop remembers %v things after each generation", sizes)
	}
}
