package ownership_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownership"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// managerPack has links of managers, the kinds of which the test defines.
const managerPack = `title: Managers
links:
- id: application
  name: application
  from: {kinds: [links.example.org/Application]}
  ends: [{form: reference, field: 'status.resources[*]'}]
  deletion: {of: end, by: Argo CD, finalizer: example.org/app, policy: background, waits: always}
  recreates:
  - {where: [{field: spec.selfHeal, value: 'true'}], needs: [{form: text, field: spec.source, kind: v1/ConfigMap}]}
  - {where: [{field: spec.manual, value: 'true'}], with: the next sync}
  verified: source
  source: https://example.com/it.go
- id: tracked
  name: application
  from: {kinds: ['*'], where: [{annotation: example.org/tracking}]}
  ends: [{form: text, field: "metadata.annotations['example.org/tracking']", kind: links.example.org/Application, namespace: usually-here}]
  deletion: {of: lead}
  verified: source
  source: https://example.com/it.go
- id: release
  name: release
  from: {kinds: [v1/Secret], where: [{label: owner, value: helm}]}
  ends: [{form: manifest, field: data.release, decode: [base64, base64, gzip, json], in: manifest}]
  deletion: {of: neither}
  recreates: [{by: Helm, with: the next helm upgrade}]
  verified: source
  source: https://example.com/it.go
- id: released
  name: release
  from: {kinds: ['*'], where: [{annotation: meta.helm.sh/release-name}]}
  ends:
  - form: labels
    labels: owner=helm,name={metadata.annotations['meta.helm.sh/release-name']}
    kinds: [v1/Secret]
    namespace: "{metadata.annotations['meta.helm.sh/release-namespace']}"
  deletion: {of: lead}
  verified: source
  source: https://example.com/it.go
`

// TestManagersInOtherNamespaces: what would create an object again is found where its annotation,
// its label or nothing but its name says, without listing more than the namespace; only a manager
// that lists the object, is not being deleted and has what it needs counts.
func TestManagersInOtherNamespaces(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "types", testcluster.NoControllers())
	fixture.Define(t, c, fixture.Kind{Group: "links.example.org", Kind: "Application"})
	shop, argo := c.Namespace(t), c.Namespace(t)
	lists := func(namespace, name, spec string, names ...string) string {
		resources := ""
		for _, name := range names {
			resources += fmt.Sprintf("{version: v1, kind: ConfigMap, namespace: %s, name: %s}, ", shop, name)
		}
		return fmt.Sprintf(
			"apiVersion: links.example.org/v1\nkind: Application\nmetadata: {name: %s, namespace: %s}\nspec: %s\nstatus: {resources: [%s]}\n---\n", name, namespace, spec, resources)
	}
	tracked := func(name, annotations string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s, annotations: {%s}}\n---\n",
			name, shop, annotations)
	}
	manifest := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: released, namespace: %s}\n", shop)
	c.Apply(t, lists(argo, "heals", "{selfHeal: true}", "healed", "more")+lists(argo, "syncs", "{manual: true}", "synced")+
		lists(argo, "shows", "{}", "shown")+
		lists(argo, "other", "{selfHeal: true}", "unrelated")+
		tracked("healed", "example.org/tracking: heals")+tracked("more", "example.org/tracking: heals")+
		tracked("synced", "example.org/tracking: syncs")+
		tracked("shown", "example.org/tracking: shows")+tracked("claims", "example.org/tracking: other")+
		tracked("lost", "example.org/tracking: nowhere")+
		tracked("released", "meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: "+argo)+tracked("plain", "")+
		fmt.Sprintf(
			"apiVersion: v1\nkind: Secret\nmetadata: {name: web.v1, namespace: %s, labels: {owner: helm, name: web}}\ndata: {release: %s}\n", argo, release(t, manifest)))
	r, err := finalizer.Load(fstest.MapFS{"test.yaml": &fstest.MapFile{Data: []byte(managerPack)}})
	if err != nil {
		t.Fatal(err)
	}
	proxy := faultproxy.Start(t, c.Config())
	back := func(roots ...[4]string) []string {
		t.Helper()
		listed := fixture.List(t, proxy.Config(),
			cluster.ListOptions{Namespace: shop, Annotations: ownership.Annotations(r.Links())})
		request := ownership.Request{Graph: listed.Graph, Scope: shop, Definitions: r.Links(), Managers: true}
		for _, root := range roots {
			request.Roots = append(request.Roots, listed.Find(t, root[0], root[1], root[2], root[3]))
		}
		own, err := ownership.Find(t.Context(), listed.Client, listed.Catalog, request)
		if err != nil {
			t.Fatal(err)
		}
		if own.Elsewhere || len(own.Gaps) > 0 {
			t.Errorf("elsewhere %t, gaps %v", own.Elsewhere, own.Gaps)
		}
		var said []string
		for i := range listed.Graph.Len() {
			for _, f := range own.Links.Above(graph.ID(i)) {
				if f.Recreation != nil {
					said = append(said, fmt.Sprintf("%s by %s %s (outside %t, more %t)", own.Graph.Name(f.End),
						own.Graph.Name(f.Source), f.Recreation.With, f.Outside, f.More))
				}
			}
		}
		slices.Sort(said)
		return said
	}
	of := func(name string) [4]string { return [4]string{"", "configmaps", shop, name} }
	all := []string{
		"healed by heals  (outside true, more true)", "more by heals  (outside true, more true)",
		"released by web.v1 the next helm upgrade (outside true, more false)",
		"synced by syncs the next sync (outside true, more false)",
	}
	if got := back(of("healed"), of("more"), of("synced"), of("shown"), of("claims"), of("lost"), of("released"),
		of("plain")); !slices.Equal(got, all) {
		t.Errorf("of objects that are named: %q", got)
	}
	if got := back([4]string{"", "namespaces", "", shop}); !slices.Equal(got, all) {
		t.Errorf("of a namespace: %q", got)
	}
	c.Kubectl(t, "patch", "applications.links.example.org", "heals", "-n", argo, "--type=merge", "-p",
		`{"spec":{"source":"git"}}`)
	if got := back(of("healed")); len(got) > 0 {
		t.Errorf("of an object whose Application names a source that does not exist: %q", got)
	}
	var hides atomic.Bool
	hides.Store(true)
	proxy.On(func(r *http.Request) bool { return hides.Load() && strings.HasSuffix(r.URL.Path, "/configmaps/git") },
		func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			http.Error(w, "no such page", http.StatusNotFound)
		})
	if got := back(of("healed")); !slices.Equal(got, all[:1]) {
		t.Errorf("of an object of whose source a 404 proves nothing: %q", got)
	}
	hides.Store(false)
	c.Kubectl(t, "create", "configmap", "git", "-n", argo)
	if got := back(of("healed")); !slices.Equal(got, all[:1]) {
		t.Errorf("of an object whose Application names a source that exists: %q", got)
	}
	c.Kubectl(t, "patch", "applications.links.example.org", "heals", "-n", argo, "--type=merge", "-p",
		`{"metadata":{"finalizers":["example.org/app"]}}`)
	c.Kubectl(t, "delete", "applications.links.example.org", "heals", "-n", argo, "--wait=false")
	if got := back(of("healed")); len(got) > 0 {
		t.Errorf("of an object whose Application is being deleted: %q", got)
	}
	c.Kubectl(t, "patch", "applications.links.example.org", "heals", "-n", argo, "--type=merge", "-p",
		`{"metadata":{"finalizers":null}}`)
}

// TestNamespaceAsksOnlyReleasesElsewhere: of the objects that go with a namespace the listing says
// which release has installed them. Nothing is asked if there is none, or if the release goes too,
// and once for all objects of a release that is elsewhere.
func TestNamespaceAsksOnlyReleasesElsewhere(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	shop, elsewhere := c.Namespace(t), c.Namespace(t)
	r, err := finalizer.Load(fstest.MapFS{"test.yaml": &fstest.MapFile{Data: []byte(managerPack)}})
	if err != nil {
		t.Fatal(err)
	}
	asked := func() []string {
		t.Helper()
		proxy := faultproxy.Start(t, c.Config())
		listed := fixture.List(t, proxy.Config(), cluster.ListOptions{Annotations: ownership.Annotations(r.Links())})
		before := len(proxy.Requests())
		own, err := ownership.Find(t.Context(), listed.Client, listed.Catalog, ownership.Request{
			Graph: listed.Graph, Roots: []graph.ID{listed.Find(t, "", "namespaces", "", shop)}, Definitions: r.Links(),
			Managers: true,
		})
		if err != nil || len(own.Gaps) > 0 {
			t.Fatal(err, own.Gaps)
		}
		var all []string
		for _, r := range proxy.Requests()[before:] {
			all = append(all, r.Method+" "+r.Path+" "+r.Query.Get("labelSelector"))
		}
		return all
	}
	config := func(name, release, namespace string) string {
		annotations := "{}"
		if release != "" {
			annotations = fmt.Sprintf("{meta.helm.sh/release-name: %s, meta.helm.sh/release-namespace: %s}", release, namespace)
		}
		return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s, annotations: %s}}\n---\n",
			name, shop, annotations)
	}
	c.Apply(t, config("plain", "", "")+config("own", "web", shop))
	root := "GET /api/v1/namespaces/" + shop + " " // what manages the namespace itself
	if got := asked(); !slices.Equal(got, []string{root}) {
		t.Errorf("of a namespace without an object of a release elsewhere it is asked: %q", got)
	}
	c.Apply(t, config("one", "web", elsewhere)+config("two", "web", elsewhere))
	want := []string{root, "GET /api/v1/namespaces/" + elsewhere + "/secrets owner=helm,name=web"}
	if got := asked(); !slices.Equal(got, want) {
		t.Errorf("of a namespace with two objects of a release elsewhere it is asked: %q, want %q", got, want)
	}
}
