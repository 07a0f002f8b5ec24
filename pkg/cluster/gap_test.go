package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestOneBrokenTypeIsAGap breaks the answer for secrets in every way and looks that all the rest is
// seen as ever.
func TestOneBrokenTypeIsAGap(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 3))
	opts := ListOptions{Namespace: ns}
	healthy, _ := list(t, c.Config(), opts)
	for name, test := range map[string]struct {
		fault  faultproxy.Fault
		reason v1alpha1.GapReason
		text   string
	}{
		"403": {faultproxy.Status(403, metav1.StatusReasonForbidden, "secrets is forbidden"), v1alpha1.GapForbidden,
			"forbidden"},
		"404": {faultproxy.Status(404, metav1.StatusReasonNotFound,
			"the server could not find the requested resource"), v1alpha1.GapFailed, "could not find"},
		"404 plain": {faultproxy.Plain(404, "404 page not found"), v1alpha1.GapFailed, "could not find"},
		"405": {faultproxy.Status(405, metav1.StatusReasonMethodNotAllowed, "the server does not allow this method"),
			v1alpha1.GapFailed, "does not allow"},
		"410 always": {faultproxy.Status(410, metav1.StatusReasonExpired, "the resourceVersion is too old"),
			v1alpha1.GapUnavailable, "too old"},
		"500": {faultproxy.Status(500, metav1.StatusReasonInternalError, "conversion webhook failed"),
			v1alpha1.GapUnavailable, "conversion webhook"},
		"503 plain": {faultproxy.Plain(503, "service unavailable"), v1alpha1.GapUnavailable,
			"unable to handle the request"},
		"reset":      {faultproxy.Reset(), v1alpha1.GapUnavailable, "the connection broke"},
		"not a list": {faultproxy.Plain(200, `"hello"`), v1alpha1.GapFailed, "cannot be decoded"},
		"html":       {faultproxy.Plain(200, `<html>log in</html>`), v1alpha1.GapFailed, "cannot be decoded"},
		"empty":      {faultproxy.Plain(200, ``), v1alpha1.GapUnavailable, "ended too early"},
		"half a list": {faultproxy.Plain(200, `{"metadata":{},"items":[{"metadata":{"name":"x","uid":"u"}}`),
			v1alpha1.GapUnavailable, "ended too early"},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(listing("secrets"), test.fault)
			g, listed := list(t, proxy.Config(), opts)
			wantGap(t, listed, "secrets", test.reason, test.text)
			for _, g := range listed.Gaps {
				if g.Resource != "secrets" && !strings.HasSuffix(g.Group, ".example.com") { // which other tests are about to define
					t.Errorf("a gap: %+v", g)
				}
			}
			for _, line := range dump(healthy, ns) {
				found := false
				for _, other := range dump(g, ns) {
					found = found || line == other
				}
				if !found {
					t.Errorf("not seen beside a gap: %s", line)
				}
			}
		})
	}
}

// TestTruncatedListIsNoCompleteList: what came before the end is seen, and what did not come is not
// absent.
func TestTruncatedListIsNoCompleteList(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 30))
	whole, _ := list(t, c.Config(), ListOptions{Namespace: ns})
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(listing("configmaps"), faultproxy.Truncate(2000))
	g, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
	if gaps := gapsOf(listed, "configmaps"); len(gaps) != 1 || gaps[0].Reason != v1alpha1.GapUnavailable {
		t.Fatalf("gaps of configmaps: %+v", gaps)
	}
	seen := len(dump(g, ns))
	if all := len(dump(whole, ns)); seen == 0 || seen >= all {
		t.Errorf("%d of %d objects were seen, want some", seen, all)
	}
}

// TestExpiredListBeginsAgain answers 410 to a page in the middle, once and always.
func TestExpiredListBeginsAgain(t *testing.T) {
	noLeaks(t)
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 20))
	opts := ListOptions{Namespace: ns}
	whole, _ := list(t, c.Config(), opts)
	second := func(r *http.Request) bool { return listing("configmaps")(r) && r.URL.Query().Has("continue") }
	expired := faultproxy.Status(410, metav1.StatusReasonExpired, "the provided continue parameter is too old")

	once := faultproxy.Start(t, c.Config())
	once.On(second, faultproxy.Times(1, expired))
	g, listed, err := tryList(t.Context(), once.Config(), opts, func(c *Client) { c.pageSize = 6 })
	if err != nil {
		t.Fatal(err)
	}
	if len(listed.Gaps) != 0 {
		t.Errorf("gaps after one restart: %+v", listed.Gaps)
	}
	if diff := cmp.Diff(dump(whole, ns), dump(g, ns)); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}

	always := faultproxy.Start(t, c.Config())
	always.On(second, expired)
	_, listed, err = tryList(t.Context(), always.Config(), opts, func(c *Client) { c.pageSize = 6 })
	if err != nil {
		t.Fatal(err)
	}
	wantGap(t, listed, "configmaps", v1alpha1.GapUnavailable, "too old")
}

func TestTooManyRequestsIsWaitedOut(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(listing("configmaps"), faultproxy.Times(1, faultproxy.RetryAfter(1)))
	start := time.Now()
	_, listed := list(t, proxy.Config(), ListOptions{Namespace: "default"})
	for _, gap := range listed.Gaps {
		if gap.Resource == "configmaps" { // types of other tests come and go
			t.Errorf("gap: %+v", gap)
		}
	}
	if waited := time.Since(start); waited < time.Second {
		t.Errorf("came back after %v, before the server wanted to be asked again", waited)
	}
}

func TestRequestTimeoutMakesAGap(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(listing("configmaps"), faultproxy.Hang())
	config := proxy.Config()
	config.Timeout = 6 * time.Second
	_, listed := list(t, config, ListOptions{Namespace: "default"})
	wantGap(t, listed, "configmaps", v1alpha1.GapUnavailable, "no answer within the request timeout")
}

func TestCancelStopsAtOnce(t *testing.T) {
	noLeaks(t)
	c := testcluster.Shared(t)
	proxy := faultproxy.Start(t, c.Config())
	hanging := make(chan struct{}, 1)
	proxy.On(listing("configmaps"), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		hanging <- struct{}{}
		faultproxy.Hang()(w, r, next)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, _, err := tryList(ctx, proxy.Config(), ListOptions{}, nil)
		done <- err
	}()
	<-hanging
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context.Canceled", err)
	}
}

// TestWhatConcernsEveryRequestIsAnError: it would make a gap of everything.
func TestWhatConcernsEveryRequestIsAnError(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(listing("configmaps"), faultproxy.Status(401, metav1.StatusReasonUnauthorized, "the token has expired"))
	if _, _, err := tryList(t.Context(), proxy.Config(), ListOptions{}, nil); !apierrors.IsUnauthorized(err) {
		t.Errorf("with credentials that end: %v, want Unauthorized", err)
	}
	dead := proxy.Config()
	dead.Host = "http://127.0.0.1:1"
	if _, _, err := tryList(t.Context(), dead, ListOptions{}, nil); err == nil {
		t.Error("no error without a server")
	}
}

// TestUnknownIsNotAbsent: an owner of a type that could not be listed is unknown, of one that
// could, absent.
func TestUnknownIsNotAbsent(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, `
apiVersion: v1
kind: ConfigMap
metadata:
  name: dependent
  namespace: `+ns+`
  ownerReferences:
  - {apiVersion: v1, kind: Secret, name: s, uid: 11111111-1111-1111-1111-111111111111}
  - {apiVersion: v1, kind: ConfigMap, name: c, uid: 22222222-2222-2222-2222-222222222222}
`)
	state := func(g *graph.Graph, uid string) graph.State {
		id, ok := g.Lookup(uid)
		if !ok {
			t.Fatalf("no node for the referenced owner %s", uid)
		}
		return g.State(id)
	}
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(listing("secrets"), faultproxy.Plain(503, "down"))
	g, _ := list(t, proxy.Config(), ListOptions{Namespace: ns})
	if s := state(g, "11111111-1111-1111-1111-111111111111"); s != graph.Unknown {
		t.Errorf("owner in a gap: state %d, want Unknown", s)
	}
	if s := state(g, "22222222-2222-2222-2222-222222222222"); s != graph.Absent {
		t.Errorf("owner of a listed type: state %d, want Absent", s)
	}
}

// TestNothingIsLeftOfATypeWhoseDefinitionIsGone: it was deleted after discovery, or while its objects
// were listed. A type of another server that answers the same is a gap. The other tests of the package
// list all types.
func TestNothingIsLeftOfATypeWhoseDefinitionIsGone(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers())
	for _, name := range []string{"gone", "half", "there"} {
		c.Apply(t, fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.undefined.example.com}
spec:
  group: undefined.example.com
  scope: Namespaced
  names: {plural: %[1]ss, singular: %[1]s, kind: %[1]s}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`, name))
	}
	proxy := faultproxy.Start(t, c.Config())
	client, err := New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	client.pageSize = 2
	catalog, err := client.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Kubectl(t, "delete", "crd/gones.undefined.example.com")
	for i := range 3 {
		c.Apply(t, fmt.Sprintf("{apiVersion: undefined.example.com/v1, kind: half, metadata: {name: h%d, namespace: default}}", i))
	}
	deleted := false
	proxy.On(func(r *http.Request) bool { return listing("halfs")(r) && r.URL.Query().Has("continue") },
		func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if !deleted {
				deleted = true
				c.Kubectl(t, "delete", "crd/halfs.undefined.example.com")
			}
			next.ServeHTTP(w, r)
		})
	proxy.On(listing("theres"), faultproxy.Plain(404, "404 page not found"))
	b := graph.NewBuilder()
	listed, err := client.List(t.Context(), catalog, ListOptions{Types: func(r Resource) bool {
		return r.Group == "undefined.example.com"
	}}, b)
	if err != nil {
		t.Fatal(err)
	}
	if len(listed.Gaps) != 1 || listed.Gaps[0].Resource != "theres" {
		t.Errorf("gaps: %+v", listed.Gaps)
	}
	g := b.Build()
	for i := range g.Len() {
		if id := graph.ID(i); deleted && g.Observed(id) && g.Ref(id).Kind == "half" {
			t.Errorf("%s is listed", g.Ref(id).Name)
		}
	}
	if !deleted {
		t.Error("the list had one page only")
	}
	reader := NewReader(client, catalog)
	for _, resource := range []string{"gones", "theres"} {
		_, err := reader.ListObjects(t.Context(), schema.GroupResource{Group: "undefined.example.com", Resource: resource}, "",
			Selection{})
		if (err == nil) != (resource == "gones") {
			t.Errorf("%s: %v", resource, err)
		}
	}
}
