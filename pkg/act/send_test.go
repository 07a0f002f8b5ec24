package act

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

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// together answers none of n requests before all of them have arrived.
func together(t *testing.T, n int32) faultproxy.Fault {
	var arrived atomic.Int32
	all := make(chan struct{})
	patience, stop := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(stop)
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if arrived.Add(1) == n {
			close(all)
		}
		select {
		case <-all:
			next.ServeHTTP(w, r)
		case <-patience.Done():
			http.Error(w, "the others were not sent", http.StatusGatewayTimeout)
		}
	}
}

// TestRootsThatAreUnrelatedGoSideBySide: no delete is answered before a number of them have been
// sent; what is told and what is in the result comes in the plan's order all the same.
func TestRootsThatAreUnrelatedGoSideBySide(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	var names []string
	for i := range 24 {
		names = append(names, fmt.Sprintf("n%02d", i))
	}
	c.Apply(t, manifest(ns, names...))
	proxy := faultproxy.Start(t, c.Config())
	client, p, points := prepare(t, proxy.Config(), ns, plan.Background, names...)
	proxy.On(deletes, together(t, int32(len(names))))
	var told record
	result, err := Run(t.Context(), client, p, told.options(points, true))
	if err != nil || len(result.Failed) > 0 {
		t.Fatalf("%v, failed %v", err, result.Failed)
	}
	var done, deleting []string
	for _, d := range result.Done {
		done = append(done, d.Graph.Ref(d.Object).Name)
	}
	for _, e := range told.events {
		if name, ok := strings.CutPrefix(e, "deleting "); ok {
			deleting = append(deleting, name)
		}
	}
	if !slices.Equal(done, names) || !slices.Equal(deleting, names) {
		t.Errorf("done %v, told %v; want them in order", done, deleting)
	}
}

// owning gives config maps an owner each.
func owning(t *testing.T, c *testcluster.Cluster, ns, owner string, dependents ...string) {
	t.Helper()
	uid := uidOf(t, c, ns, owner)
	c.Apply(t, strings.ReplaceAll(manifest(ns, dependents...), "namespace:",
		"ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: "+owner+", uid: "+uid+
			", blockOwnerDeletion: true}], namespace:"))
}

// TestDependentsAmongTheRootsComeFirst: an owner's delete is not sent before those of all its
// dependents are answered, not that of one of which only a dependent's dependent is named either.
func TestDependentsAmongTheRootsComeFirst(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "owner"))
	owning(t, c, ns, "owner", "a", "b", "between")
	owning(t, c, ns, "between", "c")
	proxy := faultproxy.Start(t, c.Config())
	client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "owner", "a", "b", "c")
	var answered atomic.Int32
	dependents := together(t, 3)
	proxy.On(deletes, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/owner") {
			next.ServeHTTP(w, r)
			return
		}
		dependents(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answered.Add(1) // before the answer, which the next may follow at once
			next.ServeHTTP(w, r)
		}))
	})
	var told record
	opts := told.options(points, false)
	tell := opts.OnEvent
	opts.OnEvent = func(e Event) { // comes before the delete is sent
		if n := answered.Load(); e.Type == Deleting && e.Action.Object.Name == "owner" && n != 3 {
			t.Errorf("the owner's delete is sent when %d of 3 are answered", n)
		}
		tell(e)
	}
	result, err := Run(t.Context(), client, p, opts)
	if err != nil || len(result.Done) != 4 {
		t.Errorf("%v, done %v", err, result.Done)
	}
}

// replans plans again as a caller does, and counts.
func replans(t *testing.T, proxy *faultproxy.Proxy, ns string, count *int) func(context.Context,
	[]graph.Ref) (Replanned, error) {
	return func(_ context.Context, roots []graph.Ref) (Replanned, error) {
		*count++
		var names []string
		for _, r := range roots {
			names = append(names, r.Name)
		}
		_, p, points := prepare(t, proxy.Config(), ns, plan.Background, names...)
		return Replanned{Plan: p, ResumePoints: points}, nil
	}
}

// TestChangedRootsArePlannedAgain with the owners whose turn has not come, and what was deleted is
// not deleted twice.
func TestChangedRootsArePlannedAgain(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "free", "owner"))
	owning(t, c, ns, "owner", "changed")
	proxy := faultproxy.Start(t, c.Config())
	client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "free", "owner", "changed")
	proxy.On(func(r *http.Request) bool { return deletes(r) && strings.HasSuffix(r.URL.Path, "/changed") },
		faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			c.Kubectl(t, "patch", "configmap", "changed", "-n", ns, "--type=merge", "-p",
				`{"metadata":{"ownerReferences":null}}`)
			next.ServeHTTP(w, r)
		}))
	var told record
	opts := told.options(points, true)
	count := 0
	opts.Replan = replans(t, proxy, ns, &count)
	result, err := Run(t.Context(), client, p, opts)
	if err != nil || count != 1 || len(result.Done) != 3 ||
		len(result.Failed)+len(result.Skipped)+len(result.Blocked) != 0 {
		t.Fatalf("%v, planned again %d times, result %+v; want three done and one new plan", err, count, result)
	}
	sent := map[string]int{}
	for _, r := range proxy.Requests() {
		if r.Method == http.MethodDelete {
			sent[r.Path[strings.LastIndex(r.Path, "/")+1:]]++
		}
	}
	if sent["free"] != 1 || sent["owner"] != 1 || sent["changed"] != 2 {
		t.Errorf("sent %v, want free and owner once and changed twice", sent)
	}
	for _, name := range []string{"free", "owner", "changed"} {
		if !slices.Contains(told.events, "gone "+name) {
			t.Errorf("%s is not told to be gone: %v", name, told.events)
		}
	}
}

// TestAPlanThatIsDeclinedLeavesTheChangedAlone, and all else is waited for.
func TestAPlanThatIsDeclinedLeavesTheChangedAlone(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, proxy := behindProxy(t, c, "changed", "free")
	client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "changed", "free")
	proxy.On(func(r *http.Request) bool { return deletes(r) && strings.HasSuffix(r.URL.Path, "/changed") },
		func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			c.Kubectl(t, "patch", "configmap", "changed", "-n", ns, "--type=merge", "-p",
				`{"metadata":{"finalizers":["example.com/new"]}}`)
			next.ServeHTTP(w, r)
		})
	declined := errors.New("no")
	var told record
	opts := told.options(points, true)
	opts.Replan = func(context.Context, []graph.Ref) (Replanned, error) { return Replanned{}, declined }
	result, err := Run(t.Context(), client, p, opts)
	if err != nil || !errors.Is(result.Declined, declined) || len(result.Done) != 1 || len(result.Failed) != 1 ||
		!errors.Is(result.Failed[0].Err, ErrChanged) {
		t.Errorf("%v, result %+v", err, result)
	}
	if !slices.Contains(told.events, "gone free") {
		t.Errorf("events: %v", told.events)
	}
	if c.Kubectl(t, "get", "configmap", "changed", "-n", ns, "-o", "jsonpath={.metadata.deletionTimestamp}") != "" {
		t.Error("the changed one is being deleted")
	}
}

// TestARootThatIsGoneMeanwhileIsSkipped: the new plan leaves it out.
func TestARootThatIsGoneMeanwhileIsSkipped(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, proxy := behindProxy(t, c, "changed", "other")
	client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "changed")
	proxy.On(deletes, faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		c.Kubectl(t, "patch", "configmap", "changed", "-n", ns, "--type=merge", "-p",
			`{"metadata":{"finalizers":["example.com/new"]}}`)
		next.ServeHTTP(w, r)
	}))
	var told record
	opts := told.options(points, true)
	opts.Replan = func(context.Context, []graph.Ref) (Replanned, error) {
		c.Kubectl(t, "patch", "configmap", "changed", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		c.Kubectl(t, "delete", "configmap", "changed", "-n", ns)
		_, none, points := prepare(t, c.Config(), ns, plan.Background)
		return Replanned{Plan: none, ResumePoints: points}, nil
	}
	result, err := Run(t.Context(), client, p, opts)
	if err != nil || len(result.Skipped) != 1 || len(result.Done)+len(result.Failed) != 0 {
		t.Errorf("%v, result %+v; want it skipped", err, result)
	}
}

// TestARootThatAlwaysChangesIsGivenUp after a number of plans, with an error that says so.
func TestARootThatAlwaysChangesIsGivenUp(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, proxy := behindProxy(t, c, "one")
	client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "one")
	var n atomic.Int32
	proxy.On(deletes, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		c.Kubectl(t, "patch", "configmap", "one", "-n", ns, "--type=merge", "-p",
			fmt.Sprintf(
				`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"66666666-6666-6666-6666-66666666666%d"}]}}`, n.Add(1)))
		next.ServeHTTP(w, r)
	})
	var told record
	opts := told.options(points, true)
	count := 0
	opts.Replan = replans(t, proxy, ns, &count)
	result, err := Run(t.Context(), client, p, opts)
	if err != nil || count != maxReplans || len(result.Failed) != 1 || len(result.Done) != 0 {
		t.Fatalf("%v, planned again %d times, result %+v; want it given up after %d", err, count, result, maxReplans)
	}
	if got := result.Failed[0].Err.Error(); !strings.Contains(got, `configmaps "one" was not deleted`) ||
		!strings.Contains(got, "3 times") {
		t.Errorf("error: %s", got)
	}
}

// TestInterruptedDeletesAreToldApart: those under way from those that were not sent.
func TestInterruptedDeletesAreToldApart(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "owner"))
	owning(t, c, ns, "owner", "dependent")
	proxy := faultproxy.Start(t, c.Config())
	client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "owner", "dependent")
	ctx, cancel := context.WithCancel(t.Context())
	proxy.On(deletes, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		cancel()
		faultproxy.Hang()(w, r, next)
	})
	var told record
	result, err := Run(ctx, client, p, told.options(points, true))
	if !errors.Is(err, context.Canceled) || len(result.Blocked) != 2 {
		t.Errorf("%v, left %v", err, result.Blocked)
	}
	if len(result.Failed) != 1 || !errors.Is(result.Failed[0].Err, ErrInterrupted) || len(result.Skipped) != 1 ||
		!errors.Is(result.Skipped[0].Err, ErrNotSent) {
		t.Errorf("failed %v, skipped %v; want the dependent's interrupted and the owner's not sent", result.Failed,
			result.Skipped)
	}
}
