package cluster

import (
	"net/http"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestTheServerEvaluatesSelectors: of what matches a label selector, a field selector or both come
// names, uids and versions, whatever the pages, and from one snapshot if the list expires in the
// middle.
func TestTheServerEvaluatesSelectors(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 6))
	proxy := faultproxy.Start(t, c.Config())
	client, err := New(proxy.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	client.pageSize = 2
	continued := func(r *http.Request) bool { return r.URL.Query().Has("continue") }
	expired := faultproxy.Status(410, metav1.StatusReasonExpired, "the provided continue parameter is too old")
	proxy.On(continued, faultproxy.Times(1, expired))
	typ := graph.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	for _, tt := range []struct {
		selectors Selection
		want      []string
	}{
		{Selection{}, []string{"c000", "c001", "c002", "c003", "c004", "c005"}},
		{Selection{Labels: "half=h1"}, []string{"c001", "c003", "c005"}},
		{Selection{Fields: "metadata.name=c004"}, []string{"c004"}},
		{Selection{Labels: "half=h1", Fields: "metadata.name=c004"}, nil},
		{Selection{Labels: "half=h1", Fields: "metadata.name!=c003"}, []string{"c001", "c005"}},
	} {
		matches, err := client.ListMatching(t.Context(), typ, ns, tt.selectors)
		if err != nil {
			t.Errorf("%+v: %v", tt.selectors, err)
		}
		var names []string
		for _, m := range matches {
			names = append(names, m.Name)
			if m.Namespace != ns || m.UID == "" || m.ResourceVersion == "" {
				t.Errorf("%+v lacks what identifies it", m)
			}
		}
		if !slices.Equal(names, tt.want) {
			t.Errorf("%+v: got %v, want %v", tt.selectors, names, tt.want)
		}
	}
	if _, err := client.ListMatching(t.Context(), typ, ns, Selection{Labels: "a in b"}); !apierrors.IsBadRequest(err) {
		t.Errorf("a bad selector: %v", err)
	}
	proxy.On(continued, expired)
	if _, err := client.ListMatching(t.Context(), typ, ns, Selection{}); !apierrors.IsResourceExpired(err) {
		t.Errorf("a list that always expires: %v", err)
	}
}
