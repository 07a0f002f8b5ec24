package cluster

import (
	"net/http"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestPagesSuitTheVersionOfTheServer: one that answers lists from etcd is not asked for 100,000
// objects in one answer, and neither is one that does not tell its version. Whatever the size, the
// same is listed.
func TestPagesSuitTheVersionOfTheServer(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	want, _ := list(t, c.Config(), ListOptions{Namespace: ns})
	for name, test := range map[string]struct {
		fault         faultproxy.Fault
		newest, exact int
	}{
		"1.29":            {faultproxy.Version("v1.29.15"), storedPage, storedPage},
		"1.30 of a cloud": {faultproxy.Version("v1.30.9-gke.1009000"), storedPage, storedPage},
		"1.31":            {faultproxy.Version("v1.31.0-eks-a737599"), cachedPage, storedPage},
		"1.34":            {faultproxy.Version("v1.34.4"), cachedPage, cachedPage},
		"no version":      {faultproxy.Version("unknown"), storedPage, storedPage},
		"no answer": {faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "forbidden"), storedPage,
			storedPage},
		"no Kubernetes": {faultproxy.Plain(http.StatusOK, "<html>"), storedPage, storedPage},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(faultproxy.Path("/version"), test.fault)
			g, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
			wantNoGaps(t, listed)
			if got, want := dump(g, ns), dump(want, ns); len(got) != len(want) {
				t.Errorf("%d objects are listed, want %d", len(got), len(want))
			}
			lists := 0
			for _, r := range proxy.Requests() {
				if !r.Query.Has("limit") {
					continue
				}
				lists++
				if limit := r.Query.Get("limit"); limit != strconv.Itoa(test.newest) {
					t.Errorf("%s is asked for %s objects in one answer, want %d", r.Path, limit, test.newest)
				}
			}
			if lists == 0 || proxy.Count(http.MethodGet, "/version") != 1 {
				t.Errorf("%d lists, and the version was asked for %d times, want once", lists,
					proxy.Count(http.MethodGet, "/version"))
			}
			client, err := New(proxy.Config(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := client.pageSizes(t.Context()).exact; got != test.exact {
				t.Errorf("a list of an exact version has pages of %d, want %d", got, test.exact)
			}
		})
	}
}
