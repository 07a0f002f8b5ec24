package unfinalize

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
)

// before does something once, right before the first request that matches reaches the server.
func before(p *faultproxy.Proxy, matches func(*http.Request) bool, do func()) {
	p.On(matches, faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		do()
		next.ServeHTTP(w, r)
	}))
}

func method(name string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == name }
}

// mergePatch changes an object as somebody else would.
func (f *fixture) mergePatch(name, patch string) {
	f.t.Helper()
	if _, err := f.of(configMapType).Patch(f.t.Context(), name, "application/merge-patch+json", []byte(patch),
		metav1.PatchOptions{FieldManager: "somebody"}); err != nil {
		f.t.Error(err)
	}
}

// TestRecreatedJustBeforeTheWriteStaysUntouched_P02, whatever the way.
func TestRecreatedJustBeforeTheWriteStaysUntouched_P02(t *testing.T) {
	t.Parallel()
	for verb, finalizers := range map[string][]string{
		"PATCH":  {hold},
		"DELETE": {plan.ForegroundFinalizer},
	} {
		t.Run(verb, func(t *testing.T) {
			f := newFixture(t)
			f.make(configMapType, "same", hold)
			f.delete(configMapType, "same", metav1.DeletePropagationForeground)
			proxy := faultproxy.Start(t, f.c.Config())
			client := connect(t, proxy.Config())
			c := f.judge(client, configMapType, finalizers, "same")[0]
			var fresh string
			before(proxy, method(verb), func() {
				f.mergePatch("same", `{"metadata":{"finalizers":null}}`)
				fresh = string(f.make(configMapType, "same", hold, plan.ForegroundFinalizer).GetUID())
			})
			o := f.perform(client, Options{}, c)[0]
			if !errors.Is(o.Err, change.ErrReplaced) || len(o.Done) > 0 {
				t.Errorf("%s, want that it was replaced", says(o))
			}
			f.is(configMapType, "same", hold, plan.ForegroundFinalizer)
			if now := f.get(configMapType, "same"); string(now.GetUID()) != fresh || now.GetDeletionTimestamp() != nil {
				t.Errorf("the new object was touched: %v", now)
			}
		})
	}
}

// TestOthersStayAndKeepTheirOrder_P07: a finalizer that somebody adds, and one that somebody
// removes so that the rest stand elsewhere, right before the write.
func TestOthersStayAndKeepTheirOrder_P07(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.make(configMapType, "live", "example.com/a", hold, "example.com/b", "example.com/c")
	f.make(configMapType, "deleting", "example.com/a", hold, "example.com/b", "example.com/c")
	f.delete(configMapType, "deleting", metav1.DeletePropagationBackground)
	proxy := faultproxy.Start(t, f.c.Config())
	client := connect(t, proxy.Config())
	change := func(name, list string) {
		before(proxy, func(r *http.Request) bool {
			return r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/"+name)
		}, func() {
			f.mergePatch(name, `{"metadata":{"finalizers":[`+list+`]}}`)
		})
	}
	change("live", `"example.com/new","example.com/a","example.com/b","`+hold+`","example.com/c","example.com/late"`)
	change("deleting", `"example.com/b","`+hold+`","example.com/c"`)
	candidates := f.judge(client, configMapType, []string{hold}, "live", "deleting")
	for _, o := range f.performOn(client, Overrides{ForceLive: true}, Options{}, candidates...) {
		if o.Err != nil || o.Gone || len(o.PutBack) > 0 {
			t.Errorf("%s", says(o))
		}
	}
	f.is(configMapType, "live", "example.com/new", "example.com/a", "example.com/b", "example.com/c", "example.com/late")
	f.is(configMapType, "deleting", "example.com/b", "example.com/c")
}

// TestConflictIsJudgedAnew: what changed meanwhile decides, not what was agreed to.
func TestConflictIsJudgedAnew(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	proxy := faultproxy.Start(t, f.c.Config())
	client := connect(t, proxy.Config())

	// What does not matter has changed: it is done all the same.
	f.make(configMapType, "busy", hold)
	f.delete(configMapType, "busy", metav1.DeletePropagationBackground)
	c := f.judge(client, configMapType, []string{hold}, "busy")[0]
	before(proxy, method(http.MethodPatch), func() { f.mergePatch("busy", `{"data":{"a":"b"}}`) })
	want(t, f.perform(client, Options{}, c)[0], "removeFinalizer busy "+hold+"; gone")

	// The policy is another now: to delete it in the background would condemn its dependents.
	f.make(configMapType, "orphans", hold)
	f.delete(configMapType, "orphans", metav1.DeletePropagationForeground)
	c = f.judge(client, configMapType, []string{plan.ForegroundFinalizer}, "orphans")[0]
	before(proxy, method(http.MethodDelete), func() { f.again(configMapType, "orphans", plan.Orphan, "") })
	if o := f.perform(client, Options{}, c)[0]; o.Err != nil || len(o.Done) > 0 {
		t.Errorf("%s, want nothing", says(o))
	}
	f.is(configMapType, "orphans", hold, plan.OrphanFinalizer)

	// Somebody else has done it.
	f.make(configMapType, "done", hold)
	f.delete(configMapType, "done", metav1.DeletePropagationBackground)
	c = f.judge(client, configMapType, []string{hold}, "done")[0]
	before(proxy, method(http.MethodPatch), func() { f.mergePatch("done", `{"metadata":{"finalizers":null}}`) })
	want(t, f.perform(client, Options{}, c)[0], "gone")
}

// TestStopsAtTheFirstFailure: what comes after is not reached, unless told to keep going; what came
// before is done.
func TestStopsAtTheFirstFailure(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	names := []string{"a", "b", "c"}
	for _, name := range names {
		f.make(configMapType, name, hold)
		f.delete(configMapType, name, metav1.DeletePropagationBackground)
	}
	proxy := faultproxy.Start(t, f.c.Config())
	proxy.On(func(r *http.Request) bool { return r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/b") },
		faultproxy.Status(500, metav1.StatusReasonInternalError, "no"))
	client := connect(t, proxy.Config())
	outcomes := f.perform(client, Options{}, f.judge(client, configMapType, []string{hold}, names...)...)
	want(t, outcomes[0], "removeFinalizer a "+hold+"; gone")
	want(t, outcomes[1], "error: no")
	want(t, outcomes[2], "error: "+ErrNotReached.Error())
	f.is(configMapType, "c", hold)
	outcomes = f.perform(client, Options{KeepGoing: true}, f.judge(client, configMapType, []string{hold}, "b", "c")...)
	want(t, outcomes[0], "error: no")
	want(t, outcomes[1], "removeFinalizer c "+hold+"; gone")
}

// TestEveryWriteCarriesItsTests: the uid, the resourceVersion, and the value where it stands.
func TestEveryWriteCarriesItsTests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.make(configMapType, "one", "example.com/a", hold, "example.com/b")
	f.delete(configMapType, "one", metav1.DeletePropagationBackground)
	proxy := faultproxy.Start(t, f.c.Config())
	client := connect(t, proxy.Config())
	c := f.judge(client, configMapType, []string{hold, "example.com/a"}, "one")[0]
	o := f.get(configMapType, "one")
	f.perform(client, Options{}, c)
	var lines []string
	for _, r := range proxy.Requests() {
		if r.Method != http.MethodPatch {
			continue
		}
		var steps []cluster.PatchStep
		if err := json.Unmarshal(r.Body, &steps); err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			value, _ := s.Value.(string)
			lines = append(lines, s.Op+" "+s.Path+" "+value)
		}
	}
	wanted := []string{
		"test /metadata/uid " + string(o.GetUID()), "test /metadata/resourceVersion " + o.GetResourceVersion(),
		"test /metadata/finalizers/1 " + hold, "remove /metadata/finalizers/1 ",
		"test /metadata/finalizers/0 example.com/a", "remove /metadata/finalizers/0 ",
	}
	if !slices.Equal(lines, wanted) {
		t.Errorf("got  %v\nwant %v", lines, wanted)
	}
}
