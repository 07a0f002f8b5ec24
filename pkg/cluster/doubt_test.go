package cluster

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// groupGaps returns the messages of the gaps of a whole group.
func groupGaps(listed *ListResult, group string) []string {
	var messages []string
	for _, gap := range listed.Gaps {
		if gap.Group == group && gap.Resource == "*" {
			messages = append(messages, gap.Message)
		}
	}
	return messages
}

// wantGroupGap fails unless there is exactly one gap of the whole group that discovery is to blame
// for, and says so.
func wantGroupGap(t *testing.T, listed *ListResult, group, text string) {
	t.Helper()
	gaps := slices.DeleteFunc(slices.Clone(listed.Gaps),
		func(g v1alpha1.Gap) bool { return g.Group != group || g.Resource != "*" })
	if len(gaps) != 1 || gaps[0].Reason != v1alpha1.GapDiscoveryFailed || !strings.Contains(gaps[0].Message, text) {
		t.Errorf("gaps of group %q: %+v, want one with reason DiscoveryFailed that says %q", group, gaps, text)
	}
}

func wantNoGaps(t *testing.T, listed *ListResult) {
	t.Helper()
	if len(listed.Gaps) != 0 {
		t.Errorf("gaps: %+v, want none", listed.Gaps)
	}
}

// TestVersionServedEmptyIsAGap_API056: that discovery shows a built-in version as current and
// without resources does not mean that it has none.
func TestVersionServedEmptyIsAGap_API056(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	doc := faultproxy.Path("/apis/coordination.k8s.io/v1")
	empty := `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"coordination.k8s.io/v1","resources":[]}`
	for name, test := range map[string]struct {
		own  faultproxy.Fault // what the document of the version itself is answered with
		text string
	}{
		"its own document has resources": {nil, "does not show leases"},
		"its own document is empty":      {jsonText(200, empty), "without any resource"},
		"its own document is about another": {jsonText(200,
			`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[{"name":"leases/x","verbs":["get"]}]}`), "apps/v1"},
		"its own document is not served": {faultproxy.Plain(404, "404 page not found"),
			"could not find the requested resource"},
		"its own document is forbidden": {faultproxy.Status(403, metav1.StatusReasonForbidden, "no"), "no"},
		"a page of a proxy":             {faultproxy.Plain(200, "<html>log in</html>"), "coordination.k8s.io/v1"},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(faultproxy.Groups, faultproxy.EmptyVersion("coordination.k8s.io", "v1"))
			if test.own != nil {
				proxy.On(doc, test.own)
			}
			_, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
			wantGroupGap(t, listed, "coordination.k8s.io", test.text)
			if len(listed.Gaps) != 1 {
				t.Errorf("gaps: %+v, want one", listed.Gaps)
			}
		})
	}
}

// TestVersionServedEmptyBesideAnother: what only the empty version serves would be hidden; what
// another version shows is not.
func TestVersionServedEmptyBesideAnother(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(faultproxy.Groups, faultproxy.EmptyVersion("autoscaling", "v1"))
	_, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
	wantNoGaps(t, listed)

	proxy.On(faultproxy.Groups, faultproxy.EmptyVersion("autoscaling", "v3"))
	_, listed = list(t, proxy.Config(), ListOptions{Namespace: ns})
	wantGroupGap(t, listed, "autoscaling", "could not find the requested resource")
}

// TestVersionOfSubresourcesOnly: such as subresources.kubevirt.io, whose discovery names no kinds:
// nothing in it can be listed, so nothing is hidden.
func TestVersionOfSubresourcesOnly(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(faultproxy.Groups, faultproxy.EmptyVersion("subresources.example.com", "v1"))
	proxy.On(faultproxy.Path("/apis/subresources.example.com/v1"), jsonText(200, `{"kind":"APIResourceList","apiVersion":"v1",
		"groupVersion":"subresources.example.com/v1","resources":[{"name":"machines/console","namespaced":true,"kind":"","verbs":null}]}`))
	_, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
	wantNoGaps(t, listed)
}

// TestMetricsWithoutMetricsAreNoGap: an adapter that has nothing to offer serves
// custom.metrics.k8s.io and external.metrics.k8s.io without resources.
func TestMetricsWithoutMetricsAreNoGap(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	proxy := faultproxy.Start(t, c.Config())
	for group, version := range map[string]string{"custom.metrics.k8s.io": "v1beta2",
		"external.metrics.k8s.io": "v1beta1"} {
		proxy.On(faultproxy.Groups, faultproxy.EmptyVersion(group, version))
		_, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
		wantNoGaps(t, listed)
		for _, r := range proxy.Requests() {
			if strings.Contains(r.Path, group) {
				t.Errorf("%s was asked", r.Path)
			}
		}
	}
}

// legacy returns a proxy in front of a server that does not aggregate its discovery.
func legacy(t *testing.T, config *rest.Config) *faultproxy.Proxy {
	t.Helper()
	proxy := faultproxy.Start(t, config)
	for _, matches := range []func(*http.Request) bool{faultproxy.Groups, faultproxy.Core} {
		proxy.On(matches, faultproxy.LegacyDiscovery())
	}
	return proxy
}

// TestDiscoveryThatIsNotAggregated: each version has a document of its own, and one that is not
// there, or is empty, is a gap.
func TestDiscoveryThatIsNotAggregated(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	opts := ListOptions{Namespace: ns}
	_, listed := list(t, legacy(t, c.Config()).Config(), opts)
	wantNoGaps(t, listed)

	leases := faultproxy.Path("/apis/coordination.k8s.io/v1")
	for name, fault := range map[string]faultproxy.Fault{
		"not served": faultproxy.Plain(404, "404 page not found"),
		"empty": jsonText(
			200, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"coordination.k8s.io/v1","resources":[]}`),
		"empty once": faultproxy.Times(1,
			jsonText(200, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"coordination.k8s.io/v1","resources":[]}`)),
		"down": faultproxy.Status(503, metav1.StatusReasonServiceUnavailable, "down"),
	} {
		t.Run(name, func(t *testing.T) {
			proxy := legacy(t, c.Config())
			proxy.On(leases, fault)
			_, listed := list(t, proxy.Config(), opts)
			if len(groupGaps(listed, "coordination.k8s.io")) != 1 {
				t.Errorf("gaps: %+v, want one of coordination.k8s.io", listed.Gaps)
			}
		})
	}
	t.Run("metrics", func(t *testing.T) {
		proxy := legacy(t, c.Config())
		proxy.On(faultproxy.Groups, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			r.Header.Set("Accept", "application/json")
			faultproxy.Edit(func(v any) any {
				groups := v.(map[string]any)["groups"].([]any)
				version := map[string]any{"groupVersion": "custom.metrics.k8s.io/v1beta2", "version": "v1beta2"}
				v.(map[string]any)["groups"] = append(groups,
					map[string]any{"name": "custom.metrics.k8s.io", "versions": []any{version}, "preferredVersion": version})
				return v
			})(w, r, next)
		})
		proxy.On(faultproxy.Path("/apis/custom.metrics.k8s.io/v1beta2"),
			jsonText(200, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"custom.metrics.k8s.io/v1beta2","resources":[]}`))
		_, listed := list(t, proxy.Config(), opts)
		wantNoGaps(t, listed)
	})
}

// TestDiscoveryWithoutTheCoreGroupIsAnError_RO013: nothing is known of what such a server serves.
func TestDiscoveryWithoutTheCoreGroupIsAnError_RO013(t *testing.T) {
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		matches func(*http.Request) bool
		fault   faultproxy.Fault
		legacy  bool
	}{
		"not served": {faultproxy.Core, faultproxy.Plain(404, "404 page not found"), false},
		"a Status": {faultproxy.Core,
			faultproxy.Status(404, metav1.StatusReasonNotFound, "not found"), false},
		"no groups":                {faultproxy.Core, faultproxy.NoGroups(), false},
		"an empty version":         {faultproxy.Core, faultproxy.EmptyVersion("", "v1"), false},
		"no namespaces":            {faultproxy.Core, faultproxy.WithoutResource("", "namespaces"), false},
		"an object without fields": {faultproxy.Core, jsonText(200, "{}"), false},
		"legacy, no versions":      {faultproxy.Core, jsonText(200, `{"kind":"APIVersions","versions":[]}`), true},
		"legacy, v1 not served":    {faultproxy.Path("/api/v1"), faultproxy.Plain(404, "404 page not found"), true},
		"legacy, v1 is empty": {faultproxy.Path("/api/v1"),
			jsonText(200, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[]}`), true},
		"legacy, v1 is down": {faultproxy.Path("/api/v1"),
			faultproxy.Status(503, metav1.StatusReasonServiceUnavailable, "down"), true},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			if test.legacy {
				proxy = legacy(t, c.Config())
			}
			proxy.On(test.matches, test.fault)
			if _, _, err := tryList(t.Context(), proxy.Config(), ListOptions{}, nil); err == nil ||
				!strings.Contains(err.Error(), "discovery shows no namespaces") {
				t.Errorf("error %v, want that discovery shows no namespaces", err)
			}
		})
	}
}

// TestDiscoveryWithoutAnyGroupIsAnError: every API server has some besides the core group.
func TestDiscoveryWithoutAnyGroupIsAnError(t *testing.T) {
	c := testcluster.Shared(t)
	for name, fault := range map[string]faultproxy.Fault{
		"aggregated": faultproxy.NoGroups(),
		"legacy":     jsonText(200, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`),
		"no fields":  jsonText(200, `{}`),
	} {
		t.Run(name, func(t *testing.T) {
			for _, core := range []faultproxy.Fault{nil, faultproxy.Plain(404, "404 page not found")} {
				proxy := faultproxy.Start(t, c.Config())
				proxy.On(faultproxy.Groups, fault)
				want := "discovery shows no API groups"
				if core != nil {
					proxy.On(faultproxy.Core, core)
					want = "discovery shows no"
				}
				if _, _, err := tryList(t.Context(), proxy.Config(), ListOptions{}, nil); err == nil ||
					!strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
			}
		})
	}
}

// TestCoreGroupThatIsNotAllThereIsAGap: a part of the core group is asked for again, and is a gap
// if it is there.
func TestCoreGroupThatIsNotAllThereIsAGap(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	for _, resource := range []string{"pods", "secrets", "configmaps"} {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(faultproxy.Core, faultproxy.WithoutResource("", resource))
		_, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
		wantGroupGap(t, listed, "", "does not show "+resource)
	}
	// A control plane without nodes serves no pods, and says so in both documents.
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(faultproxy.Core, faultproxy.WithoutResource("", "pods"))
	proxy.On(faultproxy.Path("/api/v1"), faultproxy.Edit(func(v any) any {
		doc := v.(map[string]any)
		doc["resources"] = slices.DeleteFunc(doc["resources"].([]any),
			func(r any) bool { return strings.HasPrefix(r.(map[string]any)["name"].(string), "pods") })
		return doc
	}))
	_, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
	wantNoGaps(t, listed)
}

// TestGroupThatDiscoveryLeavesOutIsAGap: its APIService is available, and there to tell of it.
func TestGroupThatDiscoveryLeavesOutIsAGap(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	for _, group := range []string{"coordination.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io"} {
		t.Run(group, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(faultproxy.Groups, faultproxy.WithoutGroup(group))
			_, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
			wantGroupGap(t, listed, group, "")
			if len(listed.Gaps) != 1 {
				t.Errorf("gaps: %+v, want one", listed.Gaps)
			}
		})
	}
}

// TestAPIServiceThatIsNotProvenGoneIsAGap: only the server's own word that there is no such object
// shows that discovery is right to leave its group out.
func TestAPIServiceThatIsNotProvenGoneIsAGap(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	gone := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: 404,
		Reason:  metav1.StatusReasonNotFound,
		Details: &metav1.StatusDetails{Name: "v1.coordination.k8s.io", Group: "apiregistration.k8s.io", Kind: "apiservices"},
	}
	another := gone
	another.Details = &metav1.StatusDetails{Name: "another", Group: "apiregistration.k8s.io", Kind: "apiservices"}
	for name, test := range map[string]struct {
		fault faultproxy.Fault
		gaps  int
	}{
		"deleted meanwhile":     {statusOf(404, gone), 0},
		"another is not there":  {statusOf(404, another), 1},
		"the proxy's own 404":   {faultproxy.Plain(404, "404 page not found"), 1},
		"404 without details":   {faultproxy.Status(404, metav1.StatusReasonNotFound, "not found"), 1},
		"no APIService at all":  {jsonText(200, "{}"), 1},
		"it may not be read":    {faultproxy.Status(403, metav1.StatusReasonForbidden, "no"), 1},
		"it cannot be read now": {faultproxy.Plain(502, "bad gateway"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(faultproxy.Groups, faultproxy.WithoutGroup("coordination.k8s.io"))
			proxy.On(faultproxy.Path("/apiservices/v1.coordination.k8s.io"), test.fault)
			_, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
			if gaps := groupGaps(listed, "coordination.k8s.io"); len(gaps) != test.gaps || len(listed.Gaps) != test.gaps {
				t.Errorf("gaps: %+v, want %d of coordination.k8s.io", listed.Gaps, test.gaps)
			}
		})
	}
	t.Run("the credentials end", func(t *testing.T) {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(faultproxy.Groups, faultproxy.WithoutGroup("coordination.k8s.io"))
		proxy.On(faultproxy.Path("/apiservices/v1.coordination.k8s.io"),
			faultproxy.Status(401, metav1.StatusReasonUnauthorized, "no"))
		if _, _, err := tryList(t.Context(), proxy.Config(), ListOptions{Namespace: ns}, nil); err == nil {
			t.Error("no error")
		}
	})
}

// TestDefinitionThatIsNotProvenGoneIsAGap is the same for a CRD that discovery does not show.
func TestDefinitionThatIsNotProvenGoneIsAGap(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	group := ns + ".example.com"
	install(t, c, group, definition(group, oneVersion))
	eventuallyServes(t, c, group, "v1")
	gone := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: 404,
		Reason: metav1.StatusReasonNotFound,
		Details: &metav1.StatusDetails{Name: "widgets." + group, Group: "apiextensions.k8s.io",
			Kind: "customresourcedefinitions"},
	}
	for name, test := range map[string]struct {
		fault faultproxy.Fault
		gaps  int
	}{
		"deleted meanwhile":   {statusOf(404, gone), 0},
		"the proxy's own 404": {faultproxy.Plain(404, "404 page not found"), 1},
		"404 without details": {faultproxy.Status(404, metav1.StatusReasonNotFound, "not found"), 1},
		"no definition":       {jsonText(200, "{}"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(faultproxy.Groups, faultproxy.WithoutGroup(group))
			proxy.On(faultproxy.Path("/customresourcedefinitions/widgets."+group), test.fault)
			_, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
			if gaps := gapsOf(listed, "widgets"); len(gaps) != test.gaps || len(listed.Gaps) != test.gaps {
				t.Errorf("gaps: %+v, want %d of widgets", listed.Gaps, test.gaps)
			}
		})
	}
}

// TestTypeThatDiscoveryHidesBesideAnother takes one of two resources out of a version: the CRD is
// established, so it is listed all the same.
func TestTypeThatDiscoveryHidesBesideAnother(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	group := ns + ".example.com"
	install(t, c, group, definition(group, oneVersion))
	c.Apply(t, strings.NewReplacer("widgets", "gadgets", "widget", "gadget", "Widget",
		"Gadget").Replace(definition(group, oneVersion)))
	t.Cleanup(func() { uninstall(t, c, "gadgets", group) })
	eventuallyServes(t, c, group, "v1")
	c.Apply(t, widget(group, "v1", ns, "hidden"))
	for name, fault := range map[string]faultproxy.Fault{"one": faultproxy.WithoutResource(group, "widgets"),
		"group": faultproxy.WithoutGroup(group)} {
		t.Run(name, func(t *testing.T) {
			proxy := faultproxy.Start(t, c.Config())
			proxy.On(faultproxy.Groups, fault)
			g, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
			if !has(g, "Widget", "hidden") {
				t.Error("an instance of an established CRD was not seen")
			}
			wantNoGaps(t, listed)
		})
	}
	t.Run("empty", func(t *testing.T) {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(faultproxy.Groups, faultproxy.EmptyVersion(group, "v1"))
		_, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
		wantGroupGap(t, listed, group, "widgets")
	})
}

// TestVersionThatNoDefinitionServesAnyMore: a group whose CRD has one version that is not served
// makes no gap.
func TestVersionThatNoDefinitionServesAnyMore(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	group := ns + ".example.com"
	install(t, c, group, definition(group, `  versions:
  - {name: v1, served: true, storage: true, `+schemaOfAnything+`}
  - {name: v2, served: false, storage: false, `+schemaOfAnything+`}
`))
	eventuallyServes(t, c, group, "v1")
	c.Apply(t, widget(group, "v1", ns, "one"))
	g, listed := list(t, c.Config(), ListOptions{Namespace: ns})
	wantNoGaps(t, listed)
	if !has(g, "Widget", "one") {
		t.Error("the widget was not seen")
	}
}

// TestHealthyDiscoveryCostsThreeRequests: nothing is asked besides the two documents, the server's
// version and the lists.
func TestHealthyDiscoveryCostsThreeRequests(t *testing.T) {
	c := testcluster.Shared(t)
	proxy := faultproxy.Start(t, c.Config())
	_, listed := list(t, proxy.Config(), ListOptions{Namespace: "default"})
	wantNoGaps(t, listed)
	var others []string
	for _, r := range proxy.Requests() {
		if !r.Query.Has("limit") {
			others = append(others, r.Path)
		}
	}
	slices.Sort(others)
	if !slices.Equal(others, []string{"/api", "/apis", "/version"}) {
		t.Errorf("besides the lists, %v were asked, want /api, /apis and /version", others)
	}
}

// jsonText answers with a JSON document.
func jsonText(code int, body string) faultproxy.Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

// TestDiscoveryUnderFaultHidesNothing answers each discovery request once as it should not be:
// there is an error, or a gap, or all types are known.
func TestDiscoveryUnderFaultHidesNothing(t *testing.T) {
	c := testcluster.Shared(t)
	want := servedBy(t, c)
	faults := map[string]faultproxy.Fault{
		"403":        faultproxy.Status(403, metav1.StatusReasonForbidden, "no"),
		"404 plain":  faultproxy.Plain(404, "404 page not found"),
		"404 Status": faultproxy.Status(404, metav1.StatusReasonNotFound, "not found"),
		"409":        faultproxy.Status(409, metav1.StatusReasonConflict, "conflict"),
		"410":        faultproxy.Status(410, metav1.StatusReasonExpired, "expired"),
		"429":        faultproxy.Status(429, metav1.StatusReasonTooManyRequests, "too many"),
		"500":        faultproxy.Status(500, metav1.StatusReasonInternalError, "internal"),
		"502":        faultproxy.Plain(502, "bad gateway"),
		"reset":      faultproxy.Reset(),
		"no groups":  faultproxy.NoGroups(),
		"no fields":  jsonText(200, `{}`),
		"a page":     faultproxy.Plain(200, "<html>log in</html>"),
		"half of it": faultproxy.Truncate(200),
	}
	combinations := 0
	for name, fault := range faults {
		for _, path := range []string{"/api", "/apis", "/api/v1", "/apis/coordination.k8s.io/v1",
			"/apis/apiregistration.k8s.io/v1"} {
			for _, aggregated := range []bool{true, false} {
				if aggregated && strings.Count(path, "/") > 1 {
					continue // which is not asked
				}
				combinations++
				t.Run(fmt.Sprintf("%s of %s, aggregated %t", name, path, aggregated), func(t *testing.T) {
					t.Parallel()
					proxy := faultproxy.Start(t, c.Config())
					if !aggregated {
						proxy = legacy(t, c.Config())
					}
					proxy.On(func(r *http.Request) bool { return r.URL.Path == path }, faultproxy.Times(1, fault))
					client, err := New(proxy.Config(), 0)
					if err != nil {
						t.Fatal(err)
					}
					got, err := client.Discover(t.Context())
					if err == nil && len(got.Gaps) == 0 && len(got.Resources) != len(want.Resources) {
						t.Errorf("%d types are known of %d, and there is no gap", len(got.Resources), len(want.Resources))
					}
				})
			}
		}
	}
	t.Logf("%d combinations", combinations)
}
