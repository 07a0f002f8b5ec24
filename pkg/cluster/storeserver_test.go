package cluster

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// storeOn returns what a store of a namespace shows of it at present.
func storeOn(t *testing.T, client *Client, namespace string) func() ([]string, *ListResult) {
	t.Helper()
	s := client.NewStore(t.Context(), ListOptions{Namespace: namespace}, func(Change) {})
	t.Cleanup(s.Close)
	return func() ([]string, *ListResult) {
		t.Helper()
		fresh := client.WithFreshDiscovery()
		catalog, err := fresh.Discover(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b := graph.NewBuilder()
		listed, _, err := s.List(t.Context(), fresh, catalog, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		return dump(b.Build(), namespace), listed
	}
}

// TestAStoreShowsWhatAListingShows: objects are made, changed and deleted, connections break, a
// watch expires, and another may not be begun again. The store shows what a listing shows, with the
// same resume points and no gap, and sends no list but for those two types.
func TestAStoreShowsWhatAListingShows(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 3))
	proxy := faultproxy.Start(t, c.Config())
	client, err := New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	shows := storeOn(t, client, ns)
	same := func() {
		t.Helper()
		testcluster.Eventually(t, "the store shows what a listing shows", func(context.Context) (bool, error) {
			got, held := shows()
			g, listed := list(t, c.Config(), ListOptions{Namespace: ns})
			return slices.Equal(got, dump(g, ns)) && len(held.Gaps) == 0 &&
				len(held.ResumePoints) == len(listed.ResumePoints), nil
		})
	}
	same()
	before := len(proxy.Requests())
	c.Apply(t, strings.ReplaceAll(configMaps(ns, 2), "kind: ConfigMap", "kind: Secret"))
	c.Kubectl(t, "delete", "configmap", "-n", ns, "--all", "--wait=false")
	same()
	proxy.On(faultproxy.Watches("/configmaps"),
		faultproxy.Times(1, faultproxy.Status(http.StatusGone, metav1.StatusReasonExpired, "too old resource version")))
	proxy.On(faultproxy.Watches("/secrets"),
		faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "cannot watch"))
	proxy.Cut()
	c.Apply(t, configMaps(ns, 4))
	c.Kubectl(t, "delete", "secret", "-n", ns, "--all", "--wait=false")
	same()
	for _, r := range proxy.Requests()[before:] {
		if strings.Contains(r.Path, ".example.com/") {
			continue // a type that another test has defined meanwhile
		}
		if r.Query.Has("limit") && !strings.HasSuffix(r.Path, "/configmaps") && !strings.HasSuffix(r.Path, "/secrets") {
			t.Errorf("listed %s", r.Path)
		}
	}
}

// TestATypeThatIsNotFollowedIsAGapOfAStore: its watch cannot be begun again, and it cannot be
// listed. What was held of it is shown, and not as all there is; until it is followed again.
func TestATypeThatIsNotFollowedIsAGapOfAStore(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 1))
	proxy := faultproxy.Start(t, c.Config())
	client, err := New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	shows := storeOn(t, client, ns)
	shows()
	shows() // which watches
	broken := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/configmaps") }
	proxy.On(broken, faultproxy.Plain(http.StatusBadGateway, "bad gateway"))
	proxy.Cut()
	testcluster.Eventually(t, "there is a gap", func(context.Context) (bool, error) {
		got, held := shows()
		return len(gapsOf(held, "configmaps")) == 1 && strings.Contains(strings.Join(got, " "), "ConfigMap") &&
			!slices.ContainsFunc(held.ResumePoints, func(p ResumePoint) bool { return p.Type.Resource == "configmaps" }), nil
	})
	proxy.On(broken, func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) })
	testcluster.Eventually(t, "the gap is closed", func(context.Context) (bool, error) {
		_, held := shows()
		return len(held.Gaps) == 0, nil
	})
}

// TestAStoreOfAUserWhoMayListOneNamespace: it is held by itself, and what may not be listed stays a
// gap without being asked for in each listing.
func TestAStoreOfAUserWhoMayListOneNamespace(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	mine := c.Namespace(t)
	c.Apply(t, configMaps(mine, 2)+"---"+viewer(mine, "store-ann"))
	allowed(t, c, "store-ann", "configmaps", mine)
	proxy := faultproxy.Start(t, c.As("store-ann"))
	client, err := New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	s := client.NewStore(t.Context(), ListOptions{Fallback: []string{mine}}, func(Change) {})
	t.Cleanup(s.Close)
	catalog, err := client.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	asked, gaps := 0, 0
	for range 3 {
		b := graph.NewBuilder()
		held, _, err := s.List(t.Context(), client, catalog, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if maps := dump(b.Build(), mine); len(maps) < 2 {
			t.Errorf("it shows %v", maps)
		}
		if len(gapsOf(held, "secrets")) == 0 || gaps != 0 && len(held.Gaps) != gaps {
			t.Errorf("%d gaps, before %d", len(held.Gaps), gaps)
		}
		gaps = len(held.Gaps)
		now := 0
		for _, r := range proxy.Requests() {
			if r.Query.Has("limit") && strings.HasSuffix(r.Path, "/secrets") {
				now++
			}
		}
		if asked != 0 && now != asked {
			t.Errorf("secrets were listed %d times, before %d", now, asked)
		}
		asked = now
	}
}
