package synthetic_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/synthetic"
)

// TestBusyServerIsWaitedFor: a server that has enough to do refuses every second list once. What it
// says of when to ask again is kept, no more than 64 requests are in flight at any time, and
// nothing is missing in the end.
func TestBusyServerIsWaitedFor(t *testing.T) {
	shape := synthetic.Shape{Objects: 5_000, Types: 200}
	server := synthetic.Start(shape)
	t.Cleanup(server.Close)
	for name, test := range map[string]struct {
		args []string
		want int // lines
	}{
		"tree":   {[]string{"tree", "-A", "-o", "name"}, shape.Total()},
		"run":    {[]string{"run", "--dry-run"}, 1},
		"why":    {[]string{"why", "-A"}, 1},
		"check":  {[]string{"check", "-A"}, 1},
		"delete": {[]string{"delete", "clusterrole/" + synthetic.Owner, "--dry-run", "-o", "name"}, shape.BelowOwner()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := faultproxy.Start(t, server.Config())
			busy := busyServer{refused: map[string]time.Time{}}
			proxy.On(func(r *http.Request) bool { return r.URL.Query().Get("limit") != "" }, busy.answer)
			code, out, errOut := script.InProcess(t.Context(), "", append(test.args, "--kubeconfig", proxy.Kubeconfig(t))...)
			if code != 0 || strings.Count(out, "\n") != test.want {
				t.Errorf("exit code %d and %d lines, want 0 and %d: %s", code, strings.Count(out, "\n"), test.want, errOut)
			}
			if len(busy.refused) == 0 || len(busy.early) > 0 {
				t.Errorf("of %d that were refused these were asked again too early: %v", len(busy.refused), busy.early)
			}
			if most := proxy.MostReads() + proxy.MostWrites(); most > 64 {
				t.Errorf("%d requests in flight, want at most 64", most)
			}
		})
	}
}

// busyServer refuses every second request once, and notes which of them come again before their
// time.
type busyServer struct {
	mu      sync.Mutex
	asked   int
	refused map[string]time.Time
	early   []string
}

func (b *busyServer) answer(w http.ResponseWriter, r *http.Request, next http.Handler) {
	b.mu.Lock()
	at, again := b.refused[r.URL.String()]
	if again && time.Since(at) < time.Second {
		b.early = append(b.early, r.URL.String())
	}
	b.asked++
	refuse := !again && b.asked%2 == 0
	if refuse {
		b.refused[r.URL.String()] = time.Now()
	}
	b.mu.Unlock()
	if refuse {
		faultproxy.RetryAfter(1)(w, r, next)
		return
	}
	next.ServeHTTP(w, r)
}
