package act

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.NoControllers()) }

// prepare lists a namespace and plans the deletion of some config maps in it, or of
// deployments/NAME.
func prepare(t testing.TB, config *rest.Config, namespace string, policy plan.Policy, names ...string) (*cluster.Client,
	*plan.Plan, []cluster.ResumePoint) {
	t.Helper()
	listed := fixture.List(t, config, cluster.ListOptions{Namespace: namespace})
	var roots []graph.ID
	for _, name := range names {
		group, resource := "", "configmaps"
		if r, n, ok := strings.Cut(name, "/"); ok {
			group, resource, name = "apps", r, n
		}
		roots = append(roots, listed.Find(t, group, resource, namespace, name))
	}
	return listed.Client, plan.New(listed.Graph, roots, policy, plan.Options{}), listed.ResumePoints
}

// record keeps what is told.
type record struct {
	mu     sync.Mutex
	events []string
}

func (r *record) options(points []cluster.ResumePoint, wait bool) Options {
	return Options{ResumePoints: points, Wait: wait, Tick: func(Progress) {}, OnEvent: func(e Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		word := map[EventType]string{Deleting: "deleting", Gone: "gone", Failed: "failed", Skipped: "skipped", Kept: "kept",
			Ungraceful: "ungraceful", Unobserved: "unobserved"}[e.Type]
		r.events = append(r.events, word+" "+e.Action.Object.Name)
	}}
}

// begun returns a run that waits for what a plan deletes. It has sent nothing.
func begun(client *cluster.Client, p *plan.Plan, points []cluster.ResumePoint, told *record) *run {
	r := &run{client: client, opts: told.options(points, true), result: &Result{}, plans: []*plan.Plan{p}}
	r.waiter = newWaiter(r.opts)
	r.waiter.add(Replanned{Plan: p, ResumePoints: points})
	return r
}

// rootGone has a run see that the first root of its plan is gone, so that it is the collector's
// turn.
func rootGone(r *run, p *plan.Plan) {
	r.waiter.mu.Lock()
	defer r.waiter.mu.Unlock()
	r.waiter.gone(p.Graph.Ref(p.Roots[0]).UID)
}

func manifest(namespace string, names ...string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\n", name, namespace)
	}
	return b.String()
}

// behindProxy makes config maps in a namespace of their own, and a proxy in front of the server.
func behindProxy(t *testing.T, c *testcluster.Cluster, names ...string) (ns string, proxy *faultproxy.Proxy) {
	t.Helper()
	ns = c.Namespace(t)
	c.Apply(t, manifest(ns, names...))
	return ns, faultproxy.Start(t, c.Config())
}

func deletes(r *http.Request) bool { return r.Method == http.MethodDelete }

// TestAnotherObjectUnderTheNameIsNotTouched_P02: between the plan and the delete the object is
// deleted and created again.
func TestAnotherObjectUnderTheNameIsNotTouched_P02(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, proxy := behindProxy(t, c, "one")
	client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "one")
	proxy.On(deletes, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		c.Kubectl(t, "delete", "configmap", "one", "-n", ns)
		c.Apply(t, manifest(ns, "one"))
		next.ServeHTTP(w, r)
	})
	var told record
	result, err := Run(t.Context(), client, p, told.options(points, true))
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Skipped) != 1 || len(result.Done)+len(result.Failed) != 0 {
		t.Errorf("result %+v, want the one skipped", result)
	}
	now := c.Kubectl(t, "get", "configmap", "one", "-n", ns, "-o",
		"jsonpath={.metadata.uid} {.metadata.deletionTimestamp}")
	if uid, deleted, _ := strings.Cut(now, " "); uid == p.Graph.Ref(p.Roots[0]).UID || deleted != "" {
		t.Errorf("the new object is %q", now)
	}
}

// TestServerDiesHalfway: what was done is in the result, what was not is too, and nothing is sent
// twice.
func TestServerDiesHalfway(t *testing.T) {
	c := testcluster.Shared(t) // which is not to be taken for a leak
	before := goleak.IgnoreCurrent()
	// client-go pools connections for the whole process, and may have dialled again since
	kept := goleak.IgnoreAnyFunction("golang.org/x/net/http2.(*clientConnReadLoop).run")
	t.Cleanup(func() { goleak.VerifyNone(t, before, kept) })
	ns, proxy := behindProxy(t, c, "a", "b", "c")
	client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "a", "b", "c")
	proxy.On(func(r *http.Request) bool { return deletes(r) && !strings.HasSuffix(r.URL.Path, "/a") }, faultproxy.Reset())
	var told record
	result, err := Run(t.Context(), client, p, told.options(points, true))
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Done) != 1 || len(result.Failed) != 2 || len(result.Blocked) != 0 {
		t.Errorf("%d done, %d failed, %d left; want 1, 2, 0", len(result.Done), len(result.Failed), len(result.Blocked))
	}
	if !slices.Contains(told.events, "gone a") || !slices.Contains(told.events, "failed b") {
		t.Errorf("events: %v", told.events)
	}
	if n := proxy.Count(http.MethodDelete, ""); n != 3 {
		t.Errorf("%d deletes were sent, want 3", n)
	}
}

// TestWaitSurvivesALostWatch: the watch breaks, and what happens meanwhile is seen all the same.
func TestWaitSurvivesALostWatch(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "held", "example.com/x"))
	for name, lost := range map[string]faultproxy.Fault{"reset": faultproxy.Reset(),
		"expired": faultproxy.Status(410, "Expired", "too old resource version")} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "held")
			first := make(chan struct{}, 1)
			proxy.On(func(r *http.Request) bool { return r.URL.Query().Get("watch") == "true" },
				faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					first <- struct{}{}
					lost(w, r, next)
				}))
			var told record
			done := make(chan error, 1)
			go func() {
				_, err := Run(t.Context(), client, p, told.options(points, true))
				done <- err
			}()
			<-first
			c.Kubectl(t, "patch", "configmap", "held", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
			c.Kubectl(t, "delete", "configmap", "held", "-n", ns, "--ignore-not-found")
			if err := <-done; err != nil {
				t.Errorf("waiting: %v", err)
			}
			c.Apply(t, fixture.ConfigMap(ns, "held", "example.com/x"))
		})
	}
}

// TestInterruptedWaitSaysWhatIsLeft: an object that is held by a finalizer is deleted, and the wait
// is interrupted; the result names it.
func TestInterruptedWaitSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "held", "example.com/x"))
	client, p, points := prepare(t, c.Config(), ns, plan.Background, "held")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		testcluster.Eventually(t, "the deletionTimestamp", func(context.Context) (bool, error) {
			return c.Kubectl(t, "get", "configmap", "held", "-n", ns, "-o", "jsonpath={.metadata.deletionTimestamp}") != "", nil
		})
		cancel()
	}()
	var told record
	result, err := Run(ctx, client, p, told.options(points, true))
	if !errors.Is(err, context.Canceled) || len(result.Blocked) != 1 || result.Blocked[0].Object.Name != "held" {
		t.Errorf("err %v, left %+v; want cancelled and the one that is held", err, result.Blocked)
	}
}

// TestCheckWritesNothing_P09: every request but reads has dryRun=All in its body, and the object is
// as it was.
func TestCheckWritesNothing_P09(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "one"))
	version := c.Kubectl(t, "get", "configmap", "one", "-n", ns, "-o", "jsonpath={.metadata.resourceVersion}")
	proxy := faultproxy.Start(t, c.Config())
	var mu sync.Mutex
	writes := 0
	proxy.On(func(r *http.Request) bool { return r.Method != http.MethodGet },
		func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			body, err := io.ReadAll(r.Body)
			if err != nil || !strings.Contains(string(body), `"dryRun":["All"]`) {
				t.Errorf("%s %s with %s, %v; want dryRun=All", r.Method, r.URL.Path, body, err)
			}
			mu.Lock()
			writes++
			mu.Unlock()
			r.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(w, r)
		})
	policies := []plan.Policy{plan.Background, plan.Foreground, plan.Orphan}
	for _, policy := range policies {
		client, p, _ := prepare(t, proxy.Config(), ns, policy, "one")
		refused, ignored := Check(t.Context(), client, p, nil)
		if len(refused)+len(ignored) != 0 {
			t.Errorf("%s: refused %v, ignored %v", policy, refused, ignored)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if writes != len(policies) {
		t.Errorf("%d dry runs were sent, want one for each policy", writes)
	}
	if now := c.Kubectl(t, "get", "configmap", "one", "-n", ns, "-o",
		"jsonpath={.metadata.resourceVersion}"); now != version {
		t.Errorf("resourceVersion %s became %s", version, now)
	}
}

// TestPolicyThatTheServerIgnores_API006: a server without support for garbage collection deletes at
// once whatever the policy.
func TestPolicyThatTheServerIgnores_API006(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers(), testcluster.APIServerArgs("--enable-garbage-collector=false"))
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "one"))
	client, p, _ := prepare(t, c.Config(), ns, plan.Foreground, "one")
	if _, ignored := Check(t.Context(), client, p, nil); len(ignored) != 1 {
		t.Errorf("ignored %v, want the one delete", ignored)
	}
	client, p, _ = prepare(t, c.Config(), ns, plan.Background, "one")
	if _, ignored := Check(t.Context(), client, p, nil); len(ignored) != 0 {
		t.Errorf("background: ignored %v, want none", ignored)
	}
}

// TestCollectorsTurn: with no collector, what is left after a delete is told to be the collector's
// to act on; what a finalizer holds is not.
func TestCollectorsTurn(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "owner"))
	owning(t, c, ns, "owner", "dependent")
	owning(t, c, ns, "dependent", "below")
	client, p, points := prepare(t, c.Config(), ns, plan.Background, "owner")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var told record
	opts := told.options(points, true)
	var last []Blocked
	opts.Tick = func(p Progress) {
		if p.Total != 3 || len(p.Blocked) != 2 {
			return
		}
		last = p.Blocked
		cancel()
	}
	if _, err := Run(ctx, client, p, opts); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	turns := map[string]bool{}
	for _, l := range last {
		turns[l.Object.Name] = l.CollectorsTurn
	}
	if !turns["dependent"] || turns["below"] {
		t.Errorf("the collector's turn: %v, want dependent, whose owner is gone, and not below", turns)
	}
}

// TestDependentThatIsReleasedIsNotWaitedFor: somebody takes the reference off before the collector
// comes.
func TestDependentThatIsReleasedIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "owner"))
	owning(t, c, ns, "owner", "dependent")
	client, p, points := prepare(t, c.Config(), ns, plan.Background, "owner")
	var told record
	opts := told.options(points, true)
	tell := opts.OnEvent
	opts.OnEvent = func(e Event) {
		tell(e)
		if e.Type == Gone && e.Action.Object.Name == "owner" {
			c.Kubectl(t, "patch", "configmap", "dependent", "-n", ns, "--type=merge", "-p",
				`{"metadata":{"ownerReferences":null}}`)
		}
	}
	result, err := Run(t.Context(), client, p, opts)
	if err != nil || len(result.Blocked) != 0 {
		t.Errorf("err %v, left %v", err, result.Blocked)
	}
	if !slices.Contains(told.events, "kept dependent") {
		t.Errorf("events: %v", told.events)
	}
}

// TestDecisionAndDeleteAreAboutTheSame_P03: a change that the plan does not rest on does not stop
// the delete, one that it rests on does.
func TestDecisionAndDeleteAreAboutTheSame_P03(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for patch, deleted := range map[string]bool{
		`{"metadata":{"labels":{"any":"thing"}}}`:         true,
		`{"metadata":{"finalizers":["example.com/new"]}}`: false,
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"66666666-6666-6666-6666-666666666666"}]}}`: false,
	} {
		ns, proxy := behindProxy(t, c, "one")
		client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "one")
		proxy.On(deletes, faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			c.Kubectl(t, "patch", "configmap", "one", "-n", ns, "--type=merge", "-p", patch)
			next.ServeHTTP(w, r)
		}))
		var told record
		result, err := Run(t.Context(), client, p, told.options(points, true))
		if err != nil {
			t.Fatal(err)
		}
		gone := c.Kubectl(t, "get", "configmap", "one", "-n", ns, "-o",
			"jsonpath={.metadata.name}{.metadata.deletionTimestamp}", "--ignore-not-found") == ""
		if gone != deleted || (len(result.Done) == 1) != deleted || (len(result.Failed) == 1) == deleted {
			t.Errorf("after %s: gone %t, result %+v; want deleted %t", patch, gone, result, deleted)
		}
	}
}

// TestOwnOrphanFinalizerDoesNotStopADelete_API003: the API server answers a delete in the
// background of an object that has the collector's finalizer with a conflict if the resourceVersion
// goes along, after it has stored the deletionTimestamp.
func TestOwnOrphanFinalizerDoesNotStopADelete_API003(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	for _, finalizer := range []string{plan.OrphanFinalizer, plan.ForegroundFinalizer} {
		c.Apply(t, strings.Replace(manifest(ns, "one"), "namespace:", "finalizers: ["+finalizer+"], namespace:", 1))
		client, p, points := prepare(t, c.Config(), ns, plan.Background, "one")
		var told record
		result, err := Run(t.Context(), client, p, told.options(points, true))
		if err != nil || len(result.Done) != 1 {
			t.Errorf("%s: %v, result %+v; want it deleted", finalizer, err, result)
		}
	}
}
