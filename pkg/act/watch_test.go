package act

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// soon is the interval of what may not be watched.
const soon = 50 * time.Millisecond

// user may do what the verbs say with config maps in a namespace, and nothing else. It returns a
// configuration of a proxy for that user.
func user(t *testing.T, c *testcluster.Cluster, proxy *faultproxy.Proxy, name, verbs string,
	namespaces ...string) *rest.Config {
	t.Helper()
	for _, ns := range namespaces {
		c.Kubectl(t, "create", "role", name, "--verb="+verbs, "--resource=configmaps", "-n", ns)
		c.Kubectl(t, "create", "rolebinding", name, "--role="+name, "--user="+name, "-n", ns)
		testcluster.Eventually(t, name+" has the rights", func(ctx context.Context) (bool, error) {
			return c.Command(ctx, "auth", "can-i", "delete", "configmaps", "--as", name, "-n", ns).Run() == nil, nil
		})
	}
	config := proxy.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: name}
	return config
}

func watches(resource string) func(*http.Request) bool { return faultproxy.Watches("/" + resource) }

func lists(resource string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/"+resource)
	}
}

// TestADeletionIsSeenWithoutTheRightToWatch: who may get, list and delete is told when it is gone,
// also what a finalizer has held.
func TestADeletionIsSeenWithoutTheRightToWatch(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "one")+fixture.ConfigMap(ns, "two", "example.com/x"))
	proxy := faultproxy.Start(t, c.Config())
	client, p, points := prepare(t, user(t, c, proxy, "lister-"+ns, "get,list,delete", ns), ns, plan.Background,
		"one", "two")
	var told record
	opts := told.options(points, true)
	opts.PollInterval = soon
	var held atomic.Bool
	opts.Tick = func(p Progress) { // the finalizer was seen in a list
		if p.BlockedCount == 1 && p.Blocked[0].Deleting && slices.Equal(p.Blocked[0].Finalizers, []string{"example.com/x"}) &&
			!held.Swap(true) {
			c.Kubectl(t, "patch", "configmap", "two", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		}
	}
	result, err := Run(t.Context(), client, p, opts)
	if err != nil || len(result.Done) != 2 || len(result.Blocked)+len(result.Unseen) != 0 {
		t.Errorf("%v, result %+v; want both done and gone", err, result)
	}
	if !slices.Contains(told.events, "gone one") || !slices.Contains(told.events, "gone two") {
		t.Errorf("events: %v", told.events)
	}
}

// TestNothingIsWatchedMoreWidelyThanItWasListed: rights in each of five namespaces are none to
// watch everywhere.
func TestNothingIsWatchedMoreWidelyThanItWasListed(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	proxy := faultproxy.Start(t, c.Config())
	var namespaces []string
	for range wholeTypeFrom + 1 {
		ns := c.Namespace(t)
		c.Apply(t, manifest(ns, "one"))
		namespaces = append(namespaces, ns)
	}
	listed := fixture.List(t, user(t, c, proxy, "local-"+namespaces[0], "get,list,watch,delete", namespaces...),
		cluster.ListOptions{Fallback: namespaces})
	var roots []graph.ID
	for _, ns := range namespaces {
		roots = append(roots, listed.Find(t, "", "configmaps", ns, "one"))
	}
	var told record
	result, err := Run(t.Context(), listed.Client, plan.New(listed.Graph, roots, plan.Background, plan.Options{}),
		told.options(listed.ResumePoints, true))
	if err != nil || len(result.Done) != len(namespaces) || len(result.Blocked) != 0 {
		t.Errorf("%v, result %+v; want all done and gone", err, result)
	}
	watched := 0
	for _, r := range proxy.Requests() {
		if r.Query.Get("watch") == "true" {
			watched++
			if r.Path == "/api/v1/configmaps" {
				t.Error("config maps were watched everywhere")
			}
		}
	}
	if watched < len(namespaces) {
		t.Errorf("%d watches, want one for each of %d namespaces", watched, len(namespaces))
	}
}

func TestResumePoints(t *testing.T) {
	t.Parallel()
	at := func(namespaces ...string) map[scope]bool {
		scopes := map[scope]bool{}
		for _, ns := range namespaces {
			scopes[scope{configMaps, ns}] = true
		}
		return scopes
	}
	listed := func(namespaces ...string) (points []cluster.ResumePoint) {
		for _, ns := range namespaces {
			points = append(points, cluster.ResumePoint{Type: configMaps, Namespace: ns, ResourceVersion: "of-" + ns})
		}
		return points
	}
	for name, test := range map[string]struct {
		types  map[scope]bool
		listed []cluster.ResumePoint
		want   []string
	}{
		"few, listed everywhere":  {at("a", "b"), listed(""), []string{"a=of-", "b=of-"}},
		"many, listed everywhere": {at("a", "b", "c", "d"), listed(""), []string{"=of-"}},
		"many, listed one by one": {at("a", "b", "c", "d"), listed("a", "b", "c", "d", "e"),
			[]string{"a=of-a", "b=of-b", "c=of-c", "d=of-d"}},
		"listed in one":                 {at("a"), listed("a"), []string{"a=of-a"}},
		"not listed":                    {at("a"), nil, []string{"a="}},
		"many, of which one was listed": {at("a", "b", "c", "d"), listed("c"), []string{"a=", "b=", "c=of-c", "d="}},
		"another type listed everywhere": {at("a", "b", "c", "d"),
			[]cluster.ResumePoint{{Type: widgets, ResourceVersion: "1"}}, []string{"a=", "b=", "c=", "d="}},
		"cluster-scoped":                  {at(""), listed(""), []string{"=of-"}},
		"listed everywhere and in one ns": {at("a", "b"), listed("", "a"), []string{"a=of-a", "b=of-"}},
	} {
		var got []string
		for _, p := range resumePoints(test.types, test.listed) {
			got = append(got, p.Namespace+"="+p.ResourceVersion)
		}
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestWhatMayNotBeListedIsRead: rights can end while a deletion goes on, for example with the
// RoleBinding that gives them.
func TestWhatMayNotBeListedIsRead(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, proxy := behindProxy(t, c, "one", "two")
	client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "one", "two")
	forbidden := faultproxy.Status(403, "Forbidden", "configmaps is forbidden")
	proxy.On(lists("configmaps"), forbidden)
	var reads atomic.Int32
	proxy.On(func(r *http.Request) bool { return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/two") },
		func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			switch reads.Add(1) { // neither is an answer that is about the object
			case 1:
				faultproxy.Plain(404, "no such page")(w, r, next)
			case 2:
				faultproxy.Status(500, "InternalError", "no")(w, r, next)
			default:
				next.ServeHTTP(w, r)
			}
		})
	var told record
	opts := told.options(points, true)
	opts.PollInterval = soon
	result, err := Run(t.Context(), client, p, opts)
	if err != nil || len(result.Done) != 2 || len(result.Blocked)+len(result.Unseen) != 0 || reads.Load() < 3 {
		t.Errorf("%v after %d reads, result %+v; want both done and gone", err, reads.Load(), result)
	}
	if !slices.Contains(told.events, "gone one") || !slices.Contains(told.events, "gone two") {
		t.Errorf("events: %v", told.events)
	}
}

// TestWhatMayNotBeSeenIsNotWaitedFor, and not reported to be gone either.
func TestWhatMayNotBeSeenIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for reason, refused := range map[string]faultproxy.Fault{
		"forbidden": faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "configmaps is forbidden"),
		"not allowed": faultproxy.Status(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
			"the server does not allow this method on the requested resource"),
		"no answer": faultproxy.Hang(),
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			c.Apply(t, manifest(ns, "one")+fixture.ConfigMap(ns, "two", "example.com/x"))
			proxy := faultproxy.Start(t, c.Config())
			client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "one", "two")
			if reason == "no answer" {
				limited := proxy.Config()
				limited.Timeout = 5 * time.Second // which is for how long it is waited for
				var err error
				if client, err = cluster.New(limited, 0); err != nil {
					t.Fatal(err)
				}
			}
			proxy.On(lists("configmaps"), refused)
			proxy.On(func(r *http.Request) bool { return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/two") },
				refused)
			var told record
			opts := told.options(points, true)
			opts.PollInterval = soon
			result, err := Run(t.Context(), client, p, opts)
			if err != nil || len(result.Done) != 2 || len(result.Blocked) != 0 || len(result.Unseen) != 1 ||
				result.Unseen[0].Object.Name != "two" || result.Unseen[0].Err == nil {
				t.Errorf("%s: %v, result %+v; want both done, and the second not seen", reason, err, result)
			}
			if !slices.Contains(told.events, "gone one") || slices.Contains(told.events, "gone two") {
				t.Errorf("events: %v", told.events)
			}
		})
	}
}

// TestWhatHappensWhileNobodyWatchesIsFoundOut: the first watch ends before its first event, too
// late to be resumed, or watching is forbidden. A dependent that has lost its reference by then is
// not waited for, and what is being deleted is shown with its finalizers.
func TestWhatHappensWhileNobodyWatchesIsFoundOut(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, lost := range map[string]faultproxy.Fault{
		"expired":   faultproxy.Times(1, faultproxy.Status(410, "Expired", "too old resource version")),
		"forbidden": faultproxy.Status(403, "Forbidden", "configmaps is forbidden"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			c.Apply(t, fixture.ConfigMap(ns, "owner", "example.com/x"))
			owning(t, c, ns, "owner", "dependent")
			proxy := faultproxy.Start(t, c.Config())
			client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "owner")
			deleted := make(chan struct{})
			proxy.On(watches("configmaps"), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				<-deleted
				lost(w, r, next)
			})
			proxy.On(deletes, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				next.ServeHTTP(w, r)
				c.Kubectl(t, "patch", "configmap", "dependent", "-n", ns, "--type=merge", "-p",
					`{"metadata":{"ownerReferences":null}}`)
				close(deleted)
			})
			var told record
			opts := told.options(points, true)
			opts.PollInterval = soon
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			opts.Tick = func(p Progress) {
				if p.BlockedCount == 1 && slices.Equal(p.Blocked[0].Finalizers, []string{"example.com/x"}) &&
					p.Blocked[0].Deleting {
					cancel()
				}
			}
			result, _ := Run(ctx, client, p, opts)
			if len(result.Blocked) != 1 || !slices.Contains(told.events, "kept dependent") {
				t.Errorf("left %+v, events %v; want the owner left and the dependent kept", result.Blocked, told.events)
			}
		})
	}
}
