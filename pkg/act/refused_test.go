package act

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// notFound is the answer of an API server that does not have an object.
func notFound(name string) faultproxy.Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
			Message: fmt.Sprintf("configmaps %q not found", name),
			Details: &metav1.StatusDetails{Kind: "configmaps", Name: name},
		})
	}
}

func uidOf(t *testing.T, c *testcluster.Cluster, ns, name string) string {
	t.Helper()
	return c.Kubectl(t, "get", "configmap", name, "-n", ns, "-o", "jsonpath={.metadata.uid}")
}

// TestARefusedDeleteIsAFailureInTheServersWords: that another object has the name, or that it is
// gone, is proven by a read alone. A webhook and a storage can answer 409 for ever, and a proxy 404
// for what is there.
func TestARefusedDeleteIsAFailureInTheServersWords(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		delete, get faultproxy.Fault
		words       []string
	}{
		"conflict": {delete: faultproxy.Status(409, "Conflict",
			`admission webhook "deny.example.com" denied the request: not now`),
			words: []string{`configmaps "one"`, "denied the request: not now"}},
		"conflict in storage": {delete: faultproxy.Status(409, "Conflict",
			"the object has been modified; please apply your changes to the latest version"),
			words: []string{`configmaps "one"`, "has been modified"}},
		"conflict, not to be read": {delete: faultproxy.Status(409, "Conflict", "not now"),
			get:   faultproxy.Status(403, "Forbidden", "you may not get it"),
			words: []string{`configmaps "one"`, "not now", "could not be read again", "you may not get it"}},
		"conflict, not found by others": {delete: faultproxy.Status(409, "Conflict", "not now"),
			get:   faultproxy.Plain(404, "no such page"),
			words: []string{`configmaps "one"`, "not now", "could not be read again"}},
		"404 of a proxy": {delete: faultproxy.Plain(404, "no such page"),
			words: []string{`configmaps "one"`, "could not find the requested resource"}},
		"404 of a proxy for all": {delete: faultproxy.Plain(404, "no such page"), get: faultproxy.Plain(404, "no such page"),
			words: []string{`configmaps "one"`, "could not be read again"}},
		"404 of another": {delete: notFound("two"), words: []string{`configmaps "one"`, `"two" not found`}},
		"404 of nobody": {delete: faultproxy.Status(404, "NotFound", "nothing here"),
			words: []string{`configmaps "one"`, "nothing here"}},
		"the read is of another": {delete: faultproxy.Status(409, "Conflict", "not now"), get: notFound("two"),
			words: []string{`configmaps "one"`, "not now", "could not be read again"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			c.Apply(t, manifest(ns, "one"))
			uid := uidOf(t, c, ns, "one")
			proxy := faultproxy.Start(t, c.Config())
			client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "one")
			proxy.On(deletes, test.delete)
			if test.get != nil {
				proxy.On(func(r *http.Request) bool { return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/one") },
					test.get)
			}
			var told record
			result, err := Run(t.Context(), client, p, told.options(points, true))
			if err != nil || len(result.Failed) != 1 || len(result.Done)+len(result.Skipped)+len(result.Blocked) != 0 {
				t.Fatalf("%v, result %+v; want one failure", err, result)
			}
			for _, words := range test.words {
				if got := result.Failed[0].Err.Error(); strings.Count(got, words) != 1 {
					t.Errorf("error %q, want %q in it, once", got, words)
				}
			}
			want := 1
			if test.get == nil && strings.HasPrefix(name, "404") {
				want = 2 // a proxy can answer so, once
			}
			if n := proxy.Count(http.MethodDelete, ""); n != want {
				t.Errorf("%d deletes were sent; the object has not changed, so want %d", n, want)
			}
			if now := uidOf(t, c, ns, "one"); now != uid {
				t.Errorf("the object is %q, was %q", now, uid)
			}
		})
	}
}

// TestWhatIsProvenToBeGoneOrReplacedIsSkipped.
func TestWhatIsProvenToBeGoneOrReplacedIsSkipped(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		answer faultproxy.Fault
		again  bool
		words  string
	}{
		"gone, in the server's words": {words: "no longer exists"},
		"gone, and a conflict":        {answer: faultproxy.Status(409, "Conflict", "not now"), words: "no longer exists"},
		"gone, and a proxy's 404":     {answer: faultproxy.Plain(404, "no such page"), words: "no longer exists"},
		"replaced":                    {again: true, words: "another object has its name"},
		"replaced, and a proxy's 404": {again: true, answer: faultproxy.Plain(404, "no such page"),
			words: "another object has its name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns, proxy := behindProxy(t, c, "one")
			client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "one")
			proxy.On(deletes, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				c.Kubectl(t, "delete", "configmap", "one", "-n", ns)
				if test.again {
					c.Apply(t, manifest(ns, "one"))
				}
				if test.answer != nil {
					test.answer(w, r, next)
					return
				}
				next.ServeHTTP(w, r)
			})
			var told record
			result, err := Run(t.Context(), client, p, told.options(points, true))
			if err != nil || len(result.Skipped) != 1 || len(result.Done)+len(result.Failed) != 0 ||
				!strings.Contains(result.Skipped[0].Err.Error(), test.words) {
				t.Errorf("%v, result %+v; want it skipped with %q", err, result, test.words)
			}
		})
	}
}

// churn changes a label of the object before each delete, the first n times, and passes the delete
// on.
func churn(t *testing.T, c *testcluster.Cluster, ns string, n int32) faultproxy.Fault {
	var sent atomic.Int32
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if i := sent.Add(1); i <= n {
			c.Kubectl(t, "label", "configmap", "one", "-n", ns, "--overwrite", fmt.Sprintf("turn=%d", i))
		}
		next.ServeHTTP(w, r)
	}
}

// TestEachDeleteCarriesTheResourceVersionOfWhatWasRead_X02: an object that changes in what does not
// matter is deleted all the same, after a bounded number of tries, and one that never stops is not.
func TestEachDeleteCarriesTheResourceVersionOfWhatWasRead_X02(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		changes, sent int
		done          bool
	}{
		"changes end":    {changes: 3, sent: 4, done: true},
		"changes go on":  {changes: 1000, sent: change.Tries},
		"no change":      {sent: 1, done: true},
		"the last try's": {changes: change.Tries - 1, sent: change.Tries, done: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns, proxy := behindProxy(t, c, "one")
			client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "one")
			proxy.On(deletes, churn(t, c, ns, int32(test.changes)))
			var told record
			result, err := Run(t.Context(), client, p, told.options(points, true))
			if err != nil || (len(result.Done) == 1) != test.done || (len(result.Failed) == 1) == test.done {
				t.Fatalf("%v, result %+v; want done %t", err, result, test.done)
			}
			if !test.done && !strings.Contains(result.Failed[0].Err.Error(),
				fmt.Sprintf(`configmaps "one" was not deleted: it was changed %d times`, change.Tries)) {
				t.Errorf("error: %v", result.Failed[0].Err)
			}
			versions := map[string]bool{}
			for _, r := range proxy.Requests() {
				if r.Method != http.MethodDelete {
					continue
				}
				var body metav1.DeleteOptions
				if err := json.Unmarshal(r.Body, &body); err != nil || body.Preconditions == nil || body.Preconditions.UID == nil ||
					body.Preconditions.ResourceVersion == nil {
					t.Fatalf("%v, a delete with %s", err, r.Body)
				}
				versions[*body.Preconditions.ResourceVersion] = true
			}
			if len(versions) != test.sent || proxy.Count(http.MethodDelete, "") != test.sent {
				t.Errorf("%d deletes with %d resourceVersions, want %d", proxy.Count(http.MethodDelete, ""), len(versions),
					test.sent)
			}
		})
	}
}

// TestARefusedPatchDeletesNothing: a reference that cannot be made to block is no reason to take
// its object for gone.
func TestARefusedPatchDeletesNothing(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		answer faultproxy.Fault
		words  string
	}{
		"conflict":       {faultproxy.Status(409, "Conflict", "not now"), "not now"},
		"404 of a proxy": {faultproxy.Plain(404, "no such page"), "could not find the requested resource"},
		"404 of another": {notFound("b"), `"b" not found`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			proxy := faultproxy.Start(t, c.Config())
			client, p := prepareStrict(t, c, proxy.Config(), ns)
			proxy.On(func(r *http.Request) bool { return patches(r) && strings.HasSuffix(r.URL.Path, "/a") }, test.answer)
			var told record
			result, err := Run(t.Context(), client, p, told.options(nil, true))
			if err != nil || len(result.Failed) != 1 || !strings.Contains(result.Failed[0].Err.Error(), test.words) ||
				proxy.Count(http.MethodDelete, "") != 0 {
				t.Errorf("%v, %d deletes, result %+v; want a failure with %q and no delete", err,
					proxy.Count(http.MethodDelete, ""), result, test.words)
			}
			if refused, _ := Check(t.Context(), client, p, nil); len(refused) != 1 ||
				!strings.Contains(refused[0].Err.Error(), test.words) {
				t.Errorf("the dry run: %v, want one refusal with %q", refused, test.words)
			}
		})
	}
}

// TestADependentThatIsGoneNeedsNotBlock.
func TestADependentThatIsGoneNeedsNotBlock(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	client, p := prepareStrict(t, c, c.Config(), ns)
	c.Kubectl(t, "delete", "configmap", "a", "-n", ns)
	c.Kubectl(t, "delete", "configmap", "b", "-n", ns)
	c.Apply(t, manifest(ns, "b"))
	var told record
	result, err := Run(t.Context(), client, p, told.options(nil, false))
	if err != nil || len(result.Skipped) != 2 || len(result.Done) != 1 || len(result.Failed) != 0 {
		t.Errorf("%v, result %+v; want both dependents skipped and the owner deleted", err, result)
	}
}

// TestAnIgnoredPolicyIsAFailureAndStopsTheRest_API006: a server without support for garbage
// collection deletes at once whatever the policy. That was not asked for, and the owners after it
// are left alone.
func TestAnIgnoredPolicyIsAFailureAndStopsTheRest_API006(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers(), testcluster.APIServerArgs("--enable-garbage-collector=false"))
	for _, policy := range []plan.Policy{plan.Foreground, plan.Orphan} {
		ns := c.Namespace(t)
		c.Apply(t, manifest(ns, "owner"))
		owning(t, c, ns, "owner", "dependent")
		client, p, points := prepare(t, c.Config(), ns, policy, "owner", "dependent")
		var told record
		result, err := Run(t.Context(), client, p, told.options(points, true))
		if err != nil || len(result.Done) != 0 || len(result.Failed) != 1 || len(result.Skipped) != 1 {
			t.Fatalf("%s: %v, result %+v; want the dependent's failed and the owner's skipped", policy, err, result)
		}
		got := result.Failed[0].Err.Error()
		for _, words := range []string{`configmaps "dependent"`, "without following the propagation policy " + string(policy),
			"finalizer"} {
			if !strings.Contains(got, words) {
				t.Errorf("%s: error %q, want %q in it", policy, got, words)
			}
		}
		if c.Kubectl(t, "get", "configmap", "owner", "-n", ns, "-o", "name") == "" {
			t.Errorf("%s: the owner was deleted", policy)
		}
	}
}

// TestAnAnswerWithoutThePolicysFinalizerIsAFailure_API033: the dry run was answered well, and the
// delete is not.
func TestAnAnswerWithoutThePolicysFinalizerIsAFailure_API033(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, proxy := behindProxy(t, c, "one")
	client, p, points := prepare(t, proxy.Config(), ns, plan.Orphan, "one")
	if refused, ignored := Check(t.Context(), client, p, nil); len(refused)+len(ignored) != 0 {
		t.Fatalf("refused %v, ignored %v", refused, ignored)
	}
	proxy.On(deletes, faultproxy.Edit(func(v any) any {
		delete(v.(map[string]any)["metadata"].(map[string]any), "finalizers")
		return v
	}))
	var told record
	result, err := Run(t.Context(), client, p, told.options(points, false))
	if err != nil || len(result.Failed) != 1 || !strings.Contains(result.Failed[0].Err.Error(), "finalizer orphan") {
		t.Errorf("%v, result %+v; want it failed", err, result)
	}
}

// TestARootThatANewPlanLeavesOutIsNotTakenForGone.
func TestARootThatANewPlanLeavesOutIsNotTakenForGone(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, proxy := behindProxy(t, c, "one")
	client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "one")
	proxy.On(deletes, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		c.Kubectl(t, "patch", "configmap", "one", "-n", ns, "--type=merge", "-p",
			`{"metadata":{"finalizers":["example.com/new"]}}`)
		next.ServeHTTP(w, r)
	})
	var told record
	opts := told.options(points, false)
	opts.Replan = func(context.Context, []graph.Ref) (Replanned, error) {
		_, none, points := prepare(t, c.Config(), ns, plan.Background)
		return Replanned{Plan: none, ResumePoints: points}, nil
	}
	result, err := Run(t.Context(), client, p, opts)
	if err != nil || len(result.Failed) != 1 || len(result.Skipped)+len(result.Done) != 0 {
		t.Errorf("%v, result %+v; want it failed", err, result)
	}
}

// TestAGracePeriodThatIsRefusedIsAFailure, and one whose pod was faster is none.
func TestAGracePeriodThatIsRefusedIsAFailure(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		answer faultproxy.Fault
		gone   bool
		failed string
	}{
		"conflict":       {answer: faultproxy.Status(409, "Conflict", "not now"), failed: "not now"},
		"404 of a proxy": {answer: faultproxy.Plain(404, "no such page"), failed: "could not find the requested resource"},
		"gone":           {gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns, proxy := behindProxy(t, c, "one")
			client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "one")
			if test.answer != nil {
				proxy.On(deletes, test.answer)
			}
			if test.gone {
				c.Kubectl(t, "delete", "configmap", "one", "-n", ns)
			}
			var told record
			r := begun(client, p, points, &told)
			r.grace = newShortener(t.Context(), r)
			l, _ := r.waiter.get(p.Graph.Ref(p.Roots[0]).UID)
			if err := r.grace.shorten(l); err != nil {
				t.Fatal(err)
			}
			r.grace.finish()
			if got := len(r.result.Failed); got != 0 != (test.failed != "") || got == 1 &&
				!strings.Contains(r.result.Failed[0].Err.Error(), test.failed) || len(r.result.Done) != 0 {
				t.Errorf("result %+v, want it failed with %q", r.result, test.failed)
			}
		})
	}
}

// TestAnOrphanThatAProxyDoesNotFindIsNotGone.
func TestAnOrphanThatAProxyDoesNotFindIsNotGone(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "owner"))
	owning(t, c, ns, "owner", "one")
	proxy := faultproxy.Start(t, c.Config())
	client, p, _ := prepare(t, proxy.Config(), ns, plan.Orphan, "owner")
	proxy.On(faultproxy.Path("/one"), faultproxy.Plain(404, "no such page"))
	r := &run{client: client, result: &Result{}, plans: []*plan.Plan{p}}
	one, _ := p.Graph.Find("", "configmaps", ns, "one")
	if found, err := r.read(t.Context(), []Orphan{{Object: p.Graph.Ref(one)}}); err == nil {
		t.Errorf("found %v, want an error", found)
	}
}

// TestAWebhookThatAnswersConflictStopsTheCollectorToo: the object is still there, so the conflict
// is not about its uid.
func TestAWebhookThatAnswersConflictStopsTheCollectorToo(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "owner"))
	owning(t, c, ns, "owner", "one")
	proxy := faultproxy.Start(t, c.Config())
	client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "owner")
	proxy.On(deletes, faultproxy.Status(409, "Conflict", "the webhook says no"))
	var told record
	r := begun(client, p, points, &told)
	rootGone(r, p)
	refused := func() error {
		r.probe(t.Context(), Progress{Blocked: r.waiter.blocked(), Quiet: probeAfter})
		return r.waiter.blocked()[0].Refused
	}
	if err := refused(); err == nil || !strings.Contains(err.Error(), "the webhook says no") {
		t.Errorf("refused: %v, want the webhook's words", err)
	}
	c.Kubectl(t, "delete", "configmap", "one", "-n", ns)
	r.waiter.refused(r.waiter.blocked()[0].Object.UID, nil)
	if err := refused(); err != nil {
		t.Errorf("refused: %v, and it is gone", err)
	}
}

// TestNobodyHasToListen: Tell and Tick may be left out.
func TestNobodyHasToListen(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "one", "example.com/x"))
	client, p, points := prepare(t, c.Config(), ns, plan.Background, "one")
	ctx, cancel := context.WithTimeout(t.Context(), 2*tick)
	defer cancel()
	result, err := Run(ctx, client, p, Options{ResumePoints: points, Wait: true})
	if err == nil || len(result.Done) != 1 || len(result.Blocked) != 1 {
		t.Errorf("%v, result %+v; want it deleted and left", err, result)
	}
	c.Kubectl(t, "patch", "configmap", "one", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	result, err = Run(t.Context(), client, p, Options{ResumePoints: []cluster.ResumePoint{}, Wait: true})
	if err != nil || len(result.Skipped) != 1 {
		t.Errorf("%v, result %+v; want it skipped", err, result)
	}
}

// TestEachDeleteIsCoveredByTheArchive: what is not is left alone, also when the object changes on
// the way.
func TestEachDeleteIsCoveredByTheArchive(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, proxy := behindProxy(t, c, "one", "two")
	client, p, points := prepare(t, proxy.Config(), ns, plan.Background, "one", "two")
	proxy.On(func(r *http.Request) bool { return deletes(r) && strings.HasSuffix(r.URL.Path, "/one") }, churn(t, c, ns, 1))
	var mu sync.Mutex
	asked := map[string]int{}
	var told record
	opts := told.options(points, true)
	opts.Archived = func(_ context.Context, typ graph.Type, ref graph.Ref, version string) error {
		mu.Lock()
		defer mu.Unlock()
		if asked[ref.Name]++; ref.Name == "one" && asked["one"] == 2 || typ.Resource != "configmaps" || version == "" {
			return errors.New("it is not in the archive")
		}
		return nil
	}
	result, err := Run(t.Context(), client, p, opts)
	if err != nil || len(result.Done) != 1 || len(result.Failed) != 1 || asked["one"] != 2 || asked["two"] != 1 {
		t.Fatalf("%v, asked %v, result %+v; want the second done and the first failed", err, asked, result)
	}
	if got := result.Failed[0].Err.Error(); got != `configmaps "one" was not deleted: it is not in the archive` {
		t.Errorf("error: %s", got)
	}
}

// TestWhatGoesAlongBeyondThePlanIsTold: somebody plays the cluster's collector, which deletes
// dependents that have come up since the plan was made.
func TestWhatGoesAlongBeyondThePlanIsTold(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "owner", "example.com/x")+manifest(ns, "other"))
	client, p, points := prepare(t, c.Config(), ns, plan.Background, "owner")
	var told record
	opts := told.options(points, true)
	var once sync.Once // the run can tick once more before it hears that the owner is gone
	opts.Tick = func(Progress) {
		once.Do(func() {
			owning(t, c, ns, "owner", "new", "kept")
			owning(t, c, ns, "new", "below")
			owning(t, c, ns, "other", "unrelated")
			c.Kubectl(t, "delete", "configmap", "new", "-n", ns)
			c.Kubectl(t, "delete", "configmap", "below", "unrelated", "-n", ns)
			c.Kubectl(t, "patch", "configmap", "owner", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		})
	}
	result, err := Run(t.Context(), client, p, opts)
	var names []string
	for _, ref := range result.Unplanned {
		names = append(names, ref.Kind+"/"+ref.Name)
	}
	if err != nil || !slices.Equal(names, []string{"ConfigMap/below", "ConfigMap/new"}) {
		t.Errorf("%v, unplanned %v", err, names)
	}
}
