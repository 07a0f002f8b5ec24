package cluster

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestListWithoutAResourceVersionIsNoList: every list of an API server that can be watched has one.
// What has none is not the server's answer, and that nothing is in it proves nothing.
func TestListWithoutAResourceVersionIsNoList(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, configMaps(ns, 6))
	for name, body := range map[string]string{
		"a list of kubectl":   `{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`,
		"an empty version":    `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":""},"items":[]}`,
		"no metadata":         `{"kind":"ConfigMapList","apiVersion":"v1","items":[]}`,
		"metadata of nothing": `{"items":null}`,
	} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/configmaps") }, jsonText(200, body))
			_, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
			wantGap(t, listed, "configmaps", v1alpha1.GapFailed, "resourceVersion")

			client, err := New(proxy.Config(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if names, err := client.ListNames(t.Context(), configMapType, ns); err == nil {
				t.Errorf("the names are %v, want an error", names)
			}
			if all, err := client.ListObjects(t.Context(), configMapType, ns, Selection{}); err == nil {
				t.Errorf("%d objects were listed, want an error", len(all))
			}
			request := ObjectRequest{Type: configMapType, Namespace: ns, Names: configMapNames(6), Total: 6}
			if err := client.ForEachObject(t.Context(), []ObjectRequest{request},
				func(*unstructured.Unstructured) error { return nil }); err == nil {
				t.Error("nothing was read, want an error")
			}
		})
	}
}

// TestViewsHaveNoResourceVersion: a type that cannot be watched, such as those of metrics.k8s.io,
// needs none.
func TestViewsHaveNoResourceVersion(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(faultproxy.Groups, faultproxy.Edit(func(v any) any {
		list := v.(map[string]any)
		view := map[string]any{"resource": "pods", "scope": "Namespaced", "singularResource": "pod",
			"verbs":        []any{"get", "list"},
			"responseKind": map[string]any{"group": "metrics.example.com", "version": "v1", "kind": "PodMetrics"}}
		list["items"] = append(list["items"].([]any),
			map[string]any{"metadata": map[string]any{"name": "metrics.example.com"},
				"versions": []any{map[string]any{"version": "v1", "freshness": "Current", "resources": []any{view}}}})
		return v
	}))
	proxy.On(func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/apis/metrics.example.com/v1/") },
		jsonText(200, `{"kind":"PodMetricsList","apiVersion":"metrics.example.com/v1","metadata":{},"items":[]}`))
	_, listed := list(t, proxy.Config(),
		ListOptions{Namespace: ns, Types: func(r Resource) bool { return slices.Contains(r.Verbs, "list") }})
	wantNoGaps(t, listed)
}
