package cluster

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// definition is a CRD of the group of a namespace with one namespaced kind, Widget, in the given
// versions.
func definition(group, versions string) string {
	return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.` + group + `}
spec:
  group: ` + group + `
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
` + versions
}

const (
	schemaOfAnything = `schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}`
	oneVersion       = `  versions: [{name: v1, served: true, storage: true, ` + schemaOfAnything + `}]`
	deadConversion   = `
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {url: "https://127.0.0.1:1/convert"}
`
)

// install applies a CRD and waits until it is established; at the end of the test it is deleted.
func install(t *testing.T, c *testcluster.Cluster, group, manifest string) {
	t.Helper()
	c.Apply(t, manifest)
	t.Cleanup(func() { uninstall(t, c, "widgets", group) })
}

func widget(group, version, namespace, name string) string {
	return "apiVersion: " + group + "/" + version + "\nkind: Widget\nmetadata: {name: " + name + ", namespace: " +
		namespace + "}\n"
}

func has(g *graph.Graph, kind, name string) bool {
	for i := range g.Len() {
		if r := g.Ref(graph.ID(i)); r.Kind == kind && r.Name == name && g.Observed(graph.ID(i)) {
			return true
		}
	}
	return false
}

// TestDeadConversionWebhook: a type whose conversion fails is listed in the version it is stored in
// if that is served, and is a gap if not.
func TestDeadConversionWebhook(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	group := ns + ".example.com"
	install(t, c, group, definition(group, oneVersion))
	c.Apply(t, widget(group, "v1", ns, "stored-as-v1"))
	opts := ListOptions{Namespace: ns}

	// v2 is preferred from now on, and nothing can convert.
	c.Apply(t, definition(group, `  versions:
  - {name: v2, served: true, storage: false, `+schemaOfAnything+`}
  - {name: v1, served: true, storage: true, `+schemaOfAnything+`}
`+deadConversion))
	eventuallyServes(t, c, group, "v2")
	g, listed := list(t, c.Config(), opts)
	if gaps := gapsOf(listed, "widgets"); len(gaps) != 0 || !has(g, "Widget", "stored-as-v1") {
		t.Errorf("gaps %+v, widget seen %t; want it listed in the version it is stored in", gaps,
			has(g, "Widget", "stored-as-v1"))
	}

	c.Apply(t, definition(group, `  versions:
  - {name: v2, served: true, storage: false, `+schemaOfAnything+`}
  - {name: v1, served: false, storage: true, `+schemaOfAnything+`}
`+deadConversion))
	testcluster.Eventually(t, "v1 to be served no more", func(ctx context.Context) (bool, error) {
		_, listed, err := tryList(ctx, c.Config(), opts, nil)
		return err == nil && len(gapsOf(listed, "widgets")) > 0, err
	})
	g, listed = list(t, c.Config(), opts)
	wantGap(t, listed, "widgets", v1alpha1.GapUnavailable, "conversion webhook")
	if has(g, "Widget", "stored-as-v1") {
		t.Error("the widget was seen, so this test does not show what it should")
	}
}

func eventuallyServes(t *testing.T, c *testcluster.Cluster, group, version string) {
	t.Helper()
	testcluster.Eventually(t, group+"/"+version+" to be served", func(ctx context.Context) (bool, error) {
		client, err := New(c.Config(), 0)
		if err != nil {
			return false, err
		}
		catalog, err := client.Discover(ctx)
		if err != nil {
			return false, err
		}
		for _, r := range catalog.Resources {
			if r.Group == group && r.Version == version {
				return true, nil
			}
		}
		return false, nil
	})
}

// TestTypeThatDiscoveryHides takes a group out of discovery's answer: its CRD is established, so it
// is listed all the same.
func TestTypeThatDiscoveryHides(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	group := ns + ".example.com"
	install(t, c, group, definition(group, oneVersion))
	c.Apply(t, widget(group, "v1", ns, "hidden"))
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(func(r *http.Request) bool { return r.URL.Path == "/apis" }, faultproxy.Edit(func(v any) any {
		answer := v.(map[string]any)
		var kept []any
		for _, item := range answer["items"].([]any) {
			if item.(map[string]any)["metadata"].(map[string]any)["name"] != group {
				kept = append(kept, item)
			}
		}
		answer["items"] = kept
		return answer
	}))
	g, listed := list(t, proxy.Config(), ListOptions{Namespace: ns})
	if !has(g, "Widget", "hidden") {
		t.Errorf("an instance of an established CRD was not seen; gaps: %+v", listed.Gaps)
	}
}

// TestUnavailableAPIServiceIsAGap registers an APIService that leads nowhere.
func TestUnavailableAPIServiceIsAGap(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	group := "nowhere-" + ns + ".example.com"
	name := "v1." + group
	c.Apply(t, `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: `+name+`}
spec:
  group: `+group+`
  version: v1
  groupPriorityMinimum: 1000
  versionPriority: 10
  insecureSkipTLSVerify: true
  service: {name: none, namespace: `+ns+`}
`)
	t.Cleanup(func() { c.Kubectl(t, "delete", "apiservice", name) })
	testcluster.Eventually(t, "the APIService to be found unavailable", func(context.Context) (bool, error) {
		return strings.Contains(c.Kubectl(t, "get", "apiservice", name, "-o", "jsonpath={.status.conditions[0].reason}"),
			"ServiceNotFound"), nil
	})
	g, listed := list(t, c.Config(), ListOptions{Namespace: ns})
	var found []v1alpha1.Gap
	for _, gap := range listed.Gaps {
		if gap.Group == group {
			found = append(found, gap)
		}
	}
	if len(found) != 1 || found[0].Resource != "*" || found[0].Reason != v1alpha1.GapDiscoveryFailed ||
		!strings.Contains(found[0].Message, "ServiceNotFound") {
		t.Errorf("gaps of the group: %+v, want one that says ServiceNotFound", found)
	}
	if !has(g, "APIService", name) {
		t.Error("the rest was not listed")
	}
}
