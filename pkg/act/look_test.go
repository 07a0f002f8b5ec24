package act

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAWatchThatTellsNothingIsNotTheEndOfKnowledge: whatever comes instead of events, what is gone
// is found to be gone.
func TestAWatchThatTellsNothingIsNotTheEndOfKnowledge(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, fault := range map[string]faultproxy.Fault{
		"404":         faultproxy.Plain(404, "no such page"),
		"500":         faultproxy.Status(500, "InternalError", "no"),
		"reset":       faultproxy.Reset(),
		"an object":   faultproxy.Plain(200, "{}"),
		"nothing":     faultproxy.Plain(200, ""),
		"a page":      faultproxy.Plain(200, "<html>log in</html>"),
		"a long wait": faultproxy.Hang(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns, proxy := behindProxy(t, c, "a", "b", "c", "d", "e", "f")
			names := []string{"a", "b"}
			if len(name)%2 == 0 {
				names = []string{"a", "b", "c", "d", "e", "f"} // more than are read one by one
			}
			client, p, points := prepare(t, proxy.Config(), ns, plan.Background, names...)
			proxy.On(watches("configmaps"), fault)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			var told record
			result, err := Run(ctx, client, p, told.options(points, true))
			if err != nil || len(result.Blocked)+len(result.Unseen) != 0 || !slices.Contains(told.events, "gone a") {
				t.Errorf("%v, left %v, events %v; want all gone", err, result.Blocked, told.events)
			}
		})
	}
}

// TestWhenTheTimeIsUpNothingIsSaidToBeLeftThatIsGone.
func TestWhenTheTimeIsUpNothingIsSaidToBeLeftThatIsGone(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "one")+fixture.ConfigMap(ns, "held", "example.com/x"))
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(watches("configmaps"), faultproxy.Hang())
	for _, test := range []struct {
		names []string
		left  int
	}{{[]string{"one"}, 0}, {[]string{"held"}, 1}} {
		client, p, points := prepare(t, proxy.Config(), ns, plan.Background, test.names...)
		ctx, cancel := context.WithTimeout(t.Context(), lookAfter-time.Second)
		defer cancel()
		var told record
		result, err := Run(ctx, client, p, told.options(points, true))
		if len(result.Blocked) != test.left || (err != nil) != (test.left > 0) || test.left > 0 &&
			!result.Blocked[0].Deleting {
			t.Errorf("%v: %v, left %+v; want %d, as it is", test.names, err, result.Blocked, test.left)
		}
	}
}

func TestQuiet(t *testing.T) {
	t.Parallel()
	var q quiet
	var looks []int
	for _, from := range []int{0, 0} { // something happens in between
		for s := from; s < 200; s++ {
			if q.due(time.Duration(s) * time.Second) {
				looks = append(looks, s)
			}
		}
	}
	if want := []int{3, 9, 21, 45, 93, 153, 3, 9, 21, 45, 93, 153}; !slices.Equal(looks, want) {
		t.Errorf("looks after %v, want %v", looks, want)
	}
}

// TestAnAnswerThatSaysNothingIsLookedInto: something has answered the delete in place of the
// server, or beside it.
func TestAnAnswerThatSaysNothingIsLookedInto(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	nothing := func(done bool, answer string) faultproxy.Fault {
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if done {
				next.ServeHTTP(discard{http.Header{}}, r)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(answer))
		}
	}
	const list, status = `{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`,
		`{"kind":"Status","apiVersion":"v1","status":"Success"}`
	for name, test := range map[string]struct {
		policy plan.Policy
		answer string
		done   bool
		failed string
	}{
		"done":                        {policy: plan.Background, answer: list, done: true},
		"done, with policy":           {policy: plan.Foreground, answer: list, done: true},
		"not done":                    {policy: plan.Background, answer: list, failed: "does not say whether it was done"},
		"a Status, done":              {policy: plan.Background, answer: status, done: true},
		"a Status, done, with policy": {policy: plan.Orphan, answer: status, done: true},
		"a Status, not done":          {policy: plan.Background, answer: status, failed: "does not say whether it was done"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns, proxy := behindProxy(t, c, "one")
			client, p, points := prepare(t, proxy.Config(), ns, test.policy, "one")
			proxy.On(deletes, nothing(test.done, test.answer))
			var told record
			result, err := Run(t.Context(), client, p, told.options(points, false))
			if err != nil || (len(result.Failed) == 1) != (test.failed != "") || (len(result.Done) == 1) != test.done {
				t.Fatalf("%v, result %+v; want done %t", err, result, test.done)
			}
			if test.failed != "" && !strings.Contains(result.Failed[0].Err.Error(), test.failed) {
				t.Errorf("error %v, want %q in it", result.Failed[0].Err, test.failed)
			}
		})
	}
}

// discard takes an answer that nobody hears.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// TestTheCollectorsPartIsDoneOnceMoreWhenAllIsGone, and is not cut off: objects that stay may still
// have references to what is gone.
func TestTheCollectorsPartIsDoneOnceMoreWhenAllIsGone(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "one"))
	client, p, points := prepare(t, c.Config(), ns, plan.Background, "one")
	var told record
	opts := told.options(points, true)
	gone := make(chan struct{})
	tell := opts.OnEvent
	opts.OnEvent = func(e Event) {
		tell(e)
		if e.Type == Gone {
			close(gone)
		}
	}
	var after atomic.Int32
	opts.Collect = func(ctx context.Context, _ []Done) error {
		select {
		case <-gone:
			after.Add(1)
			select {
			case <-ctx.Done(): // it is cut off
			case <-time.After(2 * settling): // as long as requests take
			}
		default:
		}
		return context.Cause(ctx)
	}
	result, err := Run(t.Context(), client, p, opts)
	if err != nil || len(result.Done) != 1 || after.Load() == 0 {
		t.Errorf("%v, result %+v, %d times after all was gone; want it once more, and not cut off", err, result, after.Load())
	}
}
