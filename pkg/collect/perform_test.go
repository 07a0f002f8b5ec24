package collect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestARunThatIsRefusedOrNotAgreedToWritesNothing, whatever the caller of the library leaves out.
func TestARunThatIsRefusedOrNotAgreedToWritesNothing(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("a < nobody", "b < nobody")
	before := s.left()
	client, err := cluster.New(c.Config(), cluster.DefaultConcurrency)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Run(t.Context(), client, Request{Namespace: s.namespace, MaxDeletes: 1})
	var most *MaxDeletesError
	if out != nil || !answer.IsRefusal(err) || !errors.As(err, &most) || most.Planned != 2 {
		t.Errorf("one delete is allowed: %v, %v", out, err)
	}
	no := errors.New("not today")
	var asked int
	out, err = Run(t.Context(), client, Request{Namespace: s.namespace, Agree: func(_ context.Context, p *Proposal) error {
		asked = len(p.Plan.Deleted)
		return no
	}})
	if out != nil || !errors.Is(err, no) || asked != 2 {
		t.Errorf("the plan of %d deletes is not agreed to: %v, %v", asked, out, err)
	}
	if left := s.left(); !slices.Equal(left, before) {
		t.Errorf("left %q of %q", left, before)
	}
	out, err = Run(t.Context(), client, Request{Namespace: s.namespace})
	if err != nil || out.Idle || out.Tally.Count(plan.VerbDelete) != 2 {
		t.Errorf("without an Agree the first plan counts as agreed to: %v, %v", out, err)
	}
	if out, err = Run(t.Context(), client, Request{Namespace: s.namespace}); err != nil || !out.Idle {
		t.Errorf("nothing is left to do: %v, %v", out, err)
	}
}

// TestTimeOutBeforeTheListingSaysSo and what was seen to wait when the run was planned: that
// something still waits for others is not known otherwise.
func TestTimeOutBeforeTheListingSaysSo(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	proxy, client := proxied(t, c)
	s.make("held < nobody | "+hold, "free < nobody")
	p, err := Plan(t.Context(), client, Request{Namespace: s.namespace, Wait: true, Timeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	proxy.On(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/configmaps") }, faultproxy.Hang())
	out, err := p.Perform(t.Context())
	if want := "timed out after 200ms, before the cluster was listed again: nothing was written"; !answer.IsRefusal(err) ||
		err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if out == nil || out.Idle || len(out.WaitedFor) != 1 || out.WaitedFor[0].Name != "held" {
		t.Errorf("%+v, want held to be waited for", out)
	}
	s.check("free < nobody", "held < nobody | "+hold)
}

// TestRequestThatTimesOutIsNotTheRunsTimeOut: the error is the request's.
func TestRequestThatTimesOutIsNotTheRunsTimeOut(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	s.make("free < nobody")
	proxy := faultproxy.Start(t, c.Config())
	config := proxy.Config()
	// The plan lists all types with this time-out too: on a busy machine a list has taken 2 seconds.
	config.Timeout = 15 * time.Second
	client, err := cluster.New(config, cluster.DefaultConcurrency)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Plan(t.Context(), client, Request{Namespace: s.namespace})
	if err != nil || len(p.Gaps) > 0 {
		t.Fatal(err, p.Gaps)
	}
	proxy.On(func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api") }, faultproxy.Hang())
	out, err := p.Perform(t.Context())
	if out != nil || err == nil || strings.Contains(err.Error(), "timed out after") {
		t.Errorf("%v, %v; want the error of the request", out, err)
	}
}

// TestRunThatWaitsEndsWhenTheLastFinalizerIsRemoved, of an object on which nothing depends.
func TestRunThatWaitsEndsWhenTheLastFinalizerIsRemoved(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	proxy, client := proxied(t, c)
	s.make("held < nobody | " + hold)
	ended := make(chan error, 1)
	go func() {
		out, err := Run(t.Context(), client, Request{Namespace: s.namespace, Wait: true, Timeout: time.Minute})
		if err == nil && len(out.NotDeleted) > 0 {
			err = fmt.Errorf("left %v", out.NotDeleted)
		}
		ended <- err
	}()
	testcluster.Eventually(t, "it watches",
		func(context.Context) (bool, error) { return watches(proxy, "/configmaps") > 0, nil })
	s.patch("held", `{"metadata":{"finalizers":null}}`)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestTimeOutAfterAWriteDoesNotSayThatNothingWasWritten: the server stops answering once it has
// taken a delete, and the pass after that lists nothing.
func TestTimeOutAfterAWriteDoesNotSayThatNothingWasWritten(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	s := newFixture(t, c)
	proxy, client := proxied(t, c)
	s.make("free < nobody")
	var silent atomic.Bool
	proxy.On(func(*http.Request) bool { return silent.Load() }, faultproxy.Hang())
	out, err := Run(t.Context(), client,
		Request{Namespace: s.namespace, Wait: true, Timeout: 15 * time.Second, OnEvent: func(plan.Event) { silent.Store(true) }})
	if err == nil || !strings.HasPrefix(err.Error(), "timed out after 15s, before the run was done") {
		t.Errorf("%v, want that the run was not done", err)
	}
	if out == nil || out.Tally.Count(plan.VerbDelete) != 1 {
		t.Errorf("%+v, want one delete", out)
	}
}
