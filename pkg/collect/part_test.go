package collect

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWatchLooksAtWhatAnEventTouches: after the first run, passes have the objects that events
// touch, what depends on them, and their owners; statuses that change make no pass. When the watch
// ends, the result is of all there is.
func TestWatchLooksAtWhatAnEventTouches(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	proxy, client := proxied(t, c)
	opts := s.options()
	opts.Settle = 10 * time.Millisecond
	for _, name := range []string{"held", "other"} {
		s.make(name+"-owner", name+" < "+name+"-owner")
		s.patch(name, `{"metadata":{"finalizers":["example.com/hold"]}}`)
	}
	s.make("root", "goes < root", "leaf < goes", "stays < root")
	s.delete("Background", "held-owner")
	loop := New(client, opts)
	loop.opts.Agree = AgreeToAll
	runs := make(chan *Result)
	ended := make(chan *Result, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		last, _ := loop.watch(ctx, func(r *Result) bool {
			select {
			case runs <- r:
			case <-ctx.Done():
			}
			return false
		}, false)
		ended <- last
	}()
	first := <-runs
	if first.part || len(s.names(first.Graph)) < 8 {
		t.Errorf("the first pass is a part: %t, of %v", first.part, s.names(first.Graph))
	}
	// How many runs there are is a matter of time: where the watch is late to show what a run has
	// written, another looks at the same.
	until := func(what string, holds func(*Result) bool, untouched ...string) {
		t.Helper()
		for {
			select {
			case r := <-runs:
				names := s.names(r.Graph)
				if !r.part || slices.ContainsFunc(untouched, func(name string) bool { return slices.Contains(names, name) }) {
					t.Errorf("until %s: a run ended with a part: %t, of %v, want none of %v", what, r.part, names, untouched)
				}
				if holds(r) {
					return
				}
			case <-time.After(time.Minute):
				t.Fatalf("no run in which %s", what)
			}
		}
	}
	before := len(proxy.Requests())
	s.patch("stays", `{"metadata":{"labels":{"x":"y"}}}`)
	s.delete("Background", "goes")
	until("leaf is gone", func(*Result) bool { return !slices.Contains(s.left(), "leaf < goes") }, "root", "stays",
		"other", "other-owner")
	for _, r := range proxy.Requests()[before:] {
		if r.Path == "/api" || r.Path == "/apis" {
			t.Error("asked what is served")
		}
	}
	s.delete("Background", "other-owner")
	until("other is deleted", func(r *Result) bool {
		return slices.Equal(s.names(r.Graph), []string{"other", "other-owner"})
	}, "root", "stays")
	cancel()
	last := <-ended
	var left []string
	for _, o := range last.NotDeleted {
		if o.Because.Code == plan.ForeignFinalizers {
			left = append(left, last.Graph.Ref(o.Object).Name)
		}
	}
	slices.Sort(left)
	if want := []string{"held", "other"}; last.part || !slices.Equal(left, want) {
		t.Errorf("in the end it leaves %v, want %v", left, want)
	}
	s.patch("held", `{"metadata":{"finalizers":null}}`)
	s.patch("other", `{"metadata":{"finalizers":null}}`)
}

// names are those of the fixture's config maps in a graph, sorted.
func (s *fixture) names(g *graph.Graph) []string {
	var all []string
	for i := range g.Len() {
		if ref := g.Ref(graph.ID(i)); ref.Kind == "ConfigMap" && ref.Namespace == s.namespace &&
			ref.Name != "kube-root-ca.crt" {
			all = append(all, ref.Name)
		}
	}
	slices.Sort(all)
	return all
}

// TestWatchTriesAgainWhatWasRefused: a webhook that fails refuses the delete of a dependent, or the
// read of its owner is forbidden, each time that a run tries it. When that is over, no event says
// so, and the dependent is deleted all the same.
func TestWatchTriesAgainWhatWasRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		method, path string
		fault        faultproxy.Fault
	}{
		"the delete": {http.MethodDelete, "/dependent",
			faultproxy.Status(http.StatusInternalServerError, metav1.StatusReasonInternalError, "failed calling webhook")},
		"the read of the owner": {http.MethodGet, "/owner",
			faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "the roles are not read yet")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			s := newFixture(t, c)
			proxy, client := proxied(t, c)
			opts := s.options()
			opts.Settle, opts.Retry, opts.RetryMost = 10*time.Millisecond, 10*time.Millisecond, 100*time.Millisecond
			s.make("owner", "dependent < owner")
			watchOver(t, client, opts)
			var refused atomic.Int32
			proxy.On(func(r *http.Request) bool {
				return r.Method == tt.method && strings.HasSuffix(r.URL.Path, tt.path) && refused.Add(1) <= 3*maxFailures
			}, tt.fault)
			s.delete("Background", "owner")
			s.untilLeft(0)
			if n := refused.Load(); n <= 3*maxFailures {
				t.Errorf("%d requests were refused", n)
			}
		})
	}
}
