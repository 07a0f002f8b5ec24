package cluster

import (
	"net/http"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestTheTimeIsTheServers: where the clock of this machine is wrong, what the server calls now
// counts.
func TestTheTimeIsTheServers(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, ahead := range map[string]time.Duration{"the same": 0, "an hour ahead": time.Hour,
		"an hour behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(func(*http.Request) bool { return true }, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				next.ServeHTTP(dated{w, ahead}, r)
			})
			client, err := New(proxy.Config(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if off := time.Until(client.Now()); off.Abs() > time.Minute {
				t.Errorf("before the server has answered it is %s off", off)
			}
			if _, err := client.Discover(t.Context()); err != nil {
				t.Fatal(err)
			}
			if off := time.Until(client.Now().Add(-ahead)); off.Abs() > time.Minute {
				t.Errorf("the time is %s off", off)
			}
		})
	}
}

// dated writes answers of a server whose clock is wrong.
type dated struct {
	http.ResponseWriter
	ahead time.Duration
}

func (d dated) WriteHeader(code int) {
	d.Header().Set("Date", time.Now().Add(d.ahead).UTC().Format(http.TimeFormat))
	d.ResponseWriter.WriteHeader(code)
}
