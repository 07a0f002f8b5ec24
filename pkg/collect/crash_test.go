package collect

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// terms break the deadlock that is part of everything.
var terms = plan.Overrides{BreakDeadlocks: true}

func fixtures(t *testing.T, c *testcluster.Cluster, n int) []*fixture {
	t.Helper()
	all := make([]*fixture, n)
	group := errgroup.Group{}
	group.SetLimit(4)
	for i := range all {
		all[i] = newFixture(t, c)
		group.Go(func() error {
			all[i].everything()
			return nil
		})
	}
	_ = group.Wait() // what fails ends the test
	return all
}

func proxied(t *testing.T, c *testcluster.Cluster) (*faultproxy.Proxy, *cluster.Client) {
	t.Helper()
	proxy := faultproxy.Start(t, c.Config())
	client, err := cluster.New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return proxy, client
}

func isWrite(r *http.Request) bool { return r.Method != http.MethodGet }

// namespaceOf is the namespace of an object's path.
func namespaceOf(path string) string {
	_, rest, _ := strings.Cut(path, "/namespaces/")
	namespace, _, _ := strings.Cut(rest, "/")
	return namespace
}

func checkEverything(t *testing.T, all []*fixture) {
	t.Helper()
	for i, s := range all {
		if diff := cmp.Diff(everythingLeft, s.left()); diff != "" {
			t.Errorf("copy %d: (-want +got)\n%s", i, diff)
		}
	}
}

// TestCrashAfterEveryWrite_P12 lets a run get as far as the n-th write, for each n, and runs again:
// the same is left each time.
func TestCrashAfterEveryWrite_P12(t *testing.T) {
	// It takes more than 10 s: there are as many runs as writes.
	t.Parallel()
	c := testcluster.Shared(t)
	reference := newFixture(t, c)
	reference.everything()
	_, events := reference.run(newClient(t, c),
		Options{List: reference.options().List, Allow: reference.options().Allow, Overrides: terms, AllowOwnerLoss: true,
			Agree: AgreeToAll})
	checkEverything(t, []*fixture{reference})
	verbs := map[plan.Verb]bool{}
	for _, e := range events {
		verbs[e.Action.Verb] = true
	}
	if len(verbs) != 4 {
		t.Fatalf("everything is %v", verbs)
	}

	// Each copy has its own last write; what comes after that is refused.
	all := fixtures(t, c, len(events)+1)
	proxy, client := proxied(t, c)
	var mu sync.Mutex
	granted := map[string]int{}
	for i, s := range all {
		granted[s.namespace] = i
	}
	dead := faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "crashed")
	proxy.On(isWrite, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		mu.Lock()
		namespace := namespaceOf(r.URL.Path)
		granted[namespace]--
		crashed := granted[namespace] < 0
		mu.Unlock()
		if crashed {
			dead(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
	if _, err := New(client, Options{Allow: among(all), Overrides: terms, AllowOwnerLoss: true,
		Agree: AgreeToAll}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(everythingLeft, all[0].left()); diff == "" {
		t.Fatal("a run that may not write has written")
	}
	again(t, c, all)
	checkEverything(t, all)
}

// again runs the loop twice, the second time for nothing.
func again(t *testing.T, c *testcluster.Cluster, all []*fixture) {
	t.Helper()
	for _, last := range []bool{false, true} {
		opts := Options{Allow: among(all), Overrides: terms, AllowOwnerLoss: true, Agree: AgreeToAll}
		events := record(&opts)
		s, err := New(newClient(t, c), opts).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range *events {
			if e.Err != nil || last {
				t.Errorf("last=%t: %s %s: %v", last, e.Action.Verb, e.Action.Object.Name, e.Err)
			}
		}
		if len(s.Gaps) > 0 {
			t.Errorf("gaps: %v", s.Gaps)
		}
	}
}

// TestInterruptedRuns_P12 ends runs by their context, in the middle of a write. Those that are
// under way are waited for, so that a later run may have less left than it would be interrupted
// after.
func TestInterruptedRuns_P12(t *testing.T) {
	// It takes more than 10 s beside others: all cases are made four times, and a run goes on after
	// each interruption.
	t.Parallel()
	c := testcluster.Shared(t)
	all := fixtures(t, c, 4)
	proxy, client := proxied(t, c)
	interrupted := 0
	for i, n := range []int{1, 3, 10, 20} {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		writes := 0
		proxy.On(isWrite, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			mu.Lock()
			writes++
			last := writes == n
			mu.Unlock()
			if last && i%2 == 0 {
				cancel() // before the server has it
			}
			next.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
			if last {
				cancel()
			}
		})
		_, err := New(client, Options{Allow: among(all), Overrides: terms, AllowOwnerLoss: true, Agree: AgreeToAll}).Run(ctx)
		mu.Lock()
		reached := writes >= n
		mu.Unlock()
		switch {
		case err != nil:
			interrupted++
		case reached:
			t.Errorf("a run that is interrupted at write %d has no error", n)
		}
		cancel()
	}
	if interrupted < 2 {
		t.Errorf("%d runs were interrupted, want 2 at least", interrupted)
	}
	again(t, c, all)
	checkEverything(t, all)
}

// TestOrderDoesNotMatter_P13 delays requests at random, so that the work comes in another order in
// each of several copies.
func TestOrderDoesNotMatter_P13(t *testing.T) {
	// It takes more than 10 s beside others: every request is delayed, in twelve copies.
	t.Parallel()
	c := testcluster.Shared(t)
	all := fixtures(t, c, 12)
	proxy, client := proxied(t, c)
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(1, 2))
	proxy.On(func(r *http.Request) bool { return namespaceOf(r.URL.Path) != "" },
		func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			mu.Lock()
			d := time.Duration(rng.IntN(40)) * time.Millisecond
			mu.Unlock()
			faultproxy.Delay(d)(w, r, next)
		})
	opts := Options{Allow: among(all), Overrides: terms, AllowOwnerLoss: true, Agree: AgreeToAll}
	events := record(&opts)
	if _, err := New(client, opts).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	orders := map[string]bool{}
	order := map[string]string{}
	for _, e := range *events {
		if e.Err != nil {
			t.Errorf("%s %s: %v", e.Action.Verb, e.Action.Object.Name, e.Err)
		}
		order[e.Action.Object.Namespace] += fmt.Sprintf("%s %s, ", e.Action.Verb, e.Action.Object.Name)
	}
	for _, o := range order {
		orders[o] = true
	}
	if len(orders) < 4 {
		t.Errorf("only %d orders are too few to show anything", len(orders))
	}
	checkEverything(t, all)
}

// TestTwoLoopsAtOnce_P15 runs two loops side by side: nobody meets an error, and the same is left
// as by one.
func TestTwoLoopsAtOnce_P15(t *testing.T) {
	// It takes more than 10 s beside others: all cases are made eight times and collected twice.
	t.Parallel()
	c := testcluster.Shared(t)
	all := fixtures(t, c, 8)
	var group errgroup.Group
	for range 2 {
		opts := Options{Allow: among(all), Overrides: terms, AllowOwnerLoss: true, Agree: AgreeToAll}
		events := record(&opts)
		loop := New(newClient(t, c), opts)
		group.Go(func() error {
			_, err := loop.Run(t.Context())
			return failure(*events, err)
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	checkEverything(t, all)
	again(t, c, all)
}

// failure is the first error of a run.
func failure(events []plan.Event, err error) error {
	for _, e := range events {
		if e.Err != nil {
			return fmt.Errorf("%s %s: %w", e.Action.Verb, e.Action.Object.Name, e.Err)
		}
	}
	return err
}

// unobserved are dependents that a collector which begins in the middle may delete, though their
// owner orphans them: it releases those that its graph has, and then the owner, before its graph has
// all that it has listed (GC-067). By an audit log it released o2 alone and deleted o1 and o3.
var unobserved = []string{"o1", "o3", "p1"}

// but returns some lines without others.
func but(lines, without []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(without, line) })
}

// TestBesideTheCollector_P15 runs the loop beside the real collector.
func TestBesideTheCollector_P15(t *testing.T) {
	// It takes more than 10 s beside others: the loop runs eight times, and the real collector has
	// to finish.
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers(),
		testcluster.ControllersArgs("--kube-api-qps=2000", "--kube-api-burst=2000"))
	all := fixtures(t, c, 8)
	opts := Options{Allow: among(all), Overrides: terms, AllowOwnerLoss: true, Agree: AgreeToAll}
	events := record(&opts)
	loop := New(newClient(t, c), opts)
	var group errgroup.Group
	group.Go(func() error {
		for range 8 { // before the collector has begun, and while it works
			if _, err := loop.Run(t.Context()); err != nil {
				return err
			}
		}
		return failure(*events, nil)
	})
	c.StartControllers(t, testcluster.Collector)
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	var diff string
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("left (-want +got):\n%s", diff)
		}
	})
	testcluster.Eventually(t, "nothing is left to do", func(context.Context) (bool, error) {
		for _, s := range all {
			if diff = cmp.Diff(but(everythingLeft, unobserved), but(s.left(), unobserved)); diff != "" {
				return false, nil
			}
		}
		return true, nil
	})
}
