package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/dump"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// shop has all pods and deployments of one namespace and one Secret of some; services an APIService of
// another server.
const shop = `
apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: shop, uid: d, resourceVersion: "5"}
- apiVersion: v1
  kind: Pod
  metadata:
    {name: a, namespace: shop, uid: a, resourceVersion: "9", labels: {example.com/app: web},
      ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: gone, uid: x}, {apiVersion: v1, kind: Secret, name: gone, uid: w},
        {apiVersion: example.com/v1, kind: Widget, name: gone, uid: z}]}
  spec: {nodeName: n1, hostNetwork: true}
- apiVersion: v1
  kind: Pod
  metadata: {name: b, namespace: shop, uid: b}
  spec: {nodeName: n2}
- apiVersion: v1
  kind: Pod
  metadata: {name: c, namespace: shop, uid: c}
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: shop, uid: e}
data: {password: c2VjcmV0}
`

const services = `
apiVersion: v1
kind: List
items:
- apiVersion: apiregistration.k8s.io/v1
  kind: APIService
  metadata: {name: v1beta1.metrics.example.com, uid: s}
  spec: {group: metrics.example.com, version: v1beta1, service: {name: metrics, namespace: other}}
  status: {conditions: [{type: Available, status: "True"}]}
`

var asOf = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

func server(t *testing.T) *Server {
	t.Helper()
	d := gathered(t, shop, services)
	d.Time, d.TimeOf = asOf, dump.Stated
	return New(d, "shop.yaml")
}

// gathered is a dump of one namespace and of what is cluster-scoped, of a kind whose lists are whole.
func gathered(t *testing.T, namespaced, clusterScoped string) *dump.Dump {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"namespaces/shop/core/all.yaml": namespaced,
		"cluster-scoped-resources/core/all.yaml": clusterScoped} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := dump.Open(t.Context(), dir, dump.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func client(t *testing.T) (*cluster.Client, *cluster.Catalog) {
	t.Helper()
	c, err := cluster.New(&rest.Config{Host: "http://dump.invalid", Transport: server(t)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := c.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c, catalog
}

// TestDiscovery: the two documents say what the others do.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	var got [2][]*metav1.APIResourceList
	for i, legacy := range []bool{false, true} {
		d, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: "http://dump.invalid", Transport: server(t)})
		if err != nil {
			t.Fatal(err)
		}
		d.UseLegacyDiscovery = legacy
		_, lists, err := d.ServerGroupsAndResources()
		if failed, ok := discovery.GroupDiscoveryFailedErrorGroups(err); err != nil && (!ok || len(failed) != 1) {
			t.Fatalf("legacy %t: %v", legacy, err)
		}
		lists = slices.DeleteFunc(lists, func(l *metav1.APIResourceList) bool { return len(l.APIResources) == 0 })
		for _, list := range lists {
			list.TypeMeta = metav1.TypeMeta{}
			for j := range list.APIResources { // which only one of them repeats
				list.APIResources[j].Group, list.APIResources[j].Version = "", ""
			}
		}
		slices.SortFunc(lists, func(a, b *metav1.APIResourceList) int { return strings.Compare(a.GroupVersion, b.GroupVersion) })
		got[i] = lists
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" || len(got[0]) < 10 {
		t.Error(diff)
	}
}

// TestGaps: what the dump has is seen, what it does not know is a gap with its reason, and only
// what it knows is absent.
func TestGaps(t *testing.T) {
	t.Parallel()
	c, catalog := client(t)
	b := graph.NewBuilder()
	listed, err := c.List(t.Context(), catalog, cluster.ListOptions{Namespace: "shop"}, b)
	if err != nil {
		t.Fatal(err)
	}
	g := b.Build()
	got := map[string]v1alpha1.Gap{}
	for _, gap := range listed.Gaps {
		got[gap.TypeName()] = gap
		if gap.Reason != v1alpha1.GapNotSaved || gap.Message == "" {
			t.Errorf("%+v", gap)
		}
	}
	for name, want := range map[string]bool{"pods": false, "deployments.apps": false, "apiservices.apiregistration.k8s.io": false,
		"secrets": true, "configmaps": true, "widgets.example.com": true, "*.metrics.example.com": true, "namespaces": true} {
		if _, is := got[name]; is != want {
			t.Errorf("%s is a gap: %t", name, is)
		}
	}
	for uid, want := range map[string]graph.State{"a": graph.Active, "e": graph.Active, "x": graph.Absent, "w": graph.Unknown,
		"z": graph.Unknown} {
		if id, ok := g.Lookup(uid); !ok || g.State(id) != want {
			t.Errorf("%s is %v", uid, g.State(id))
		}
	}
	if !c.Now().Equal(asOf) || !c.IsStill() {
		t.Errorf("its clock is at %s", c.Now())
	}
}

// TestEverywhere: of a dump of some namespaces nothing is absent in the others. In those of which it
// has all objects of a type, an owner that is not there is, and what is there is seen.
func TestEverywhere(t *testing.T) {
	t.Parallel()
	c, catalog := client(t)
	b := graph.NewBuilder()
	listed, err := c.List(t.Context(), catalog, cluster.ListOptions{}, b)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(listed.Gaps, func(g v1alpha1.Gap) bool { return g.TypeName() == "pods" && g.Namespace == "" }) {
		t.Errorf("that there can be pods elsewhere is no gap: %v", listed.Gaps)
	}
	elsewhere := graph.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "bank", Name: "web"}
	g, named := b.Build().WithUnseen([]graph.Ref{elsewhere})
	of := func(uid string) graph.State {
		id, _ := g.Lookup(uid)
		return g.State(id)
	}
	if of("a") != graph.Active || of("x") != graph.Absent || of("w") != graph.Unknown || g.State(named[0]) != graph.Unknown {
		t.Errorf("a pod is %v, its Deployment that is gone %v, its Secret %v, and a Deployment elsewhere %v", of("a"), of("x"), of("w"),
			g.State(named[0]))
	}
	hides := func(namespace, name string) bool {
		return slices.ContainsFunc(g.Hiding(listed.Gaps, graph.Ref{Namespace: namespace}),
			func(gap v1alpha1.Gap) bool { return gap.TypeName() == name })
	}
	if hides("shop", "pods") || !hides("bank", "pods") || !hides("", "pods") || !hides("shop", "secrets") {
		t.Error("a pod can be hidden in the namespace of which all are known, or in no other")
	}
	pods, _ := catalog.Lookup(cluster.Pods)
	some, err := c.ListObjects(t.Context(), pods.Type, "", cluster.Selection{})
	if gap, ok := cluster.GapOf(t.Context(), pods.Type, "", err); len(some) != 3 || !ok || gap.Reason != v1alpha1.GapNotSaved {
		t.Errorf("%d pods, %v", len(some), err)
	}
}

// TestGet: only an object of which all others are known is proven to be absent.
func TestGet(t *testing.T) {
	t.Parallel()
	c, catalog := client(t)
	pods, _ := catalog.Lookup(cluster.Pods)
	secrets, _ := catalog.Lookup(schema.GroupResource{Resource: "secrets"})
	if o, err := c.GetObject(t.Context(), pods.Type, "shop", "a"); err != nil || o.Object["spec"] == nil {
		t.Errorf("%v, %v", o, err)
	}
	if o, err := c.GetObjectMeta(t.Context(), secrets.Type, "shop", "s"); err != nil || o.Object["data"] != nil || o.GetName() != "s" {
		t.Errorf("%v, %v", o, err)
	}
	if _, err := c.GetMeta(t.Context(), pods.Type, "shop", "none"); !cluster.IsAbsent(err, pods.Type, "none") {
		t.Errorf("a pod: %v", err)
	}
	for _, of := range []cluster.Resource{pods, secrets} {
		_, err := c.GetMeta(t.Context(), of.Type, "bank", "none")
		gap, ok := cluster.GapOf(t.Context(), of.Type, "bank", err)
		if cluster.IsAbsent(err, of.Type, "none") || !ok || gap.Reason != v1alpha1.GapNotSaved {
			t.Errorf("%s: %v", of.Resource, err)
		}
	}
}

// TestLists: pages and selectors are those of a server, and a list that is not whole does not end.
func TestLists(t *testing.T) {
	t.Parallel()
	c, catalog := client(t)
	for _, test := range []struct {
		of       schema.GroupResource
		selected cluster.Selection
		want     string
	}{
		{cluster.Pods, cluster.Selection{}, "a b c"},
		{cluster.Pods, cluster.Selection{Labels: "example.com/app=web"}, "a"},
		{cluster.Pods, cluster.Selection{Labels: "example.com/app!=web"}, "b c"},
		{cluster.Pods, cluster.Selection{Fields: "spec.nodeName=n2"}, "b"},
		{cluster.Pods, cluster.Selection{Fields: "spec.nodeName="}, "c"},
		{cluster.Pods, cluster.Selection{Fields: "metadata.name!=b,spec.hostNetwork=true"}, "a"},
		{schema.GroupResource{Resource: "secrets"}, cluster.Selection{}, "NotSaved"},
		{schema.GroupResource{Resource: "configmaps"}, cluster.Selection{}, "NotSaved"},
		{cluster.Pods, cluster.Selection{Labels: "in in in"}, "BadRequest"},
		{cluster.Pods, cluster.Selection{Fields: "a"}, "BadRequest"},
	} {
		of, _ := catalog.Lookup(test.of)
		objects, err := c.ListObjects(t.Context(), of.Type, "shop", test.selected)
		var names []string
		for _, o := range objects {
			names = append(names, o.GetName())
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = string(apierrors.ReasonForError(err))
		}
		if got != test.want {
			t.Errorf("%s %v: %s, want %s", test.of, test.selected, got, test.want)
		}
	}
}

// TestPagesOfAList: each page begins where the last one ended, and the last one says that it is.
func TestPagesOfAList(t *testing.T) {
	t.Parallel()
	s := server(t)
	for query, want := range map[string]string{
		"limit=1": "a b c", "limit=2": "a b c", "limit=3": "a b c", "limit=9223372036854775807": "a b c", "limit=-1": "a b c",
		"limit=1&labelSelector=" + url.QueryEscape("example.com/app!=web"): "b c",
		"limit=1&fieldSelector=" + url.QueryEscape("spec.nodeName=n1"):     "a",
	} {
		var names []string
		for token := "0"; token != ""; {
			var page metav1.PartialObjectMetadataList
			body := request(t, s, http.MethodGet, "/api/v1/namespaces/shop/pods?"+query+"&continue="+token, http.StatusOK)
			if err := json.Unmarshal([]byte(body), &page); err != nil {
				t.Fatal(err)
			}
			for _, o := range page.Items {
				names = append(names, o.Name)
			}
			token = page.Continue
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// roles are those of two ServiceAccounts.
const roles = `
apiVersion: v1
kind: List
items:
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: writer, uid: cr}
  rules: [{apiGroups: [apps], resources: [deployments, deployments/status], verbs: [patch]}, {apiGroups: [""], resources: ["*/status"], verbs: ["*"]}]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRoleBinding
  metadata: {name: all, uid: crb}
  roleRef: {kind: ClusterRole, name: writer}
  subjects: [{kind: ServiceAccount, name: one, namespace: ops}, {kind: Group, name: "system:serviceaccounts:team"}]
`

const namespacedRoles = `
apiVersion: v1
kind: List
items:
- apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata: {name: named, namespace: shop, uid: r}
  rules: [{apiGroups: ["*"], resources: [pods], verbs: [get], resourceNames: [web]}]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: local, namespace: shop, uid: rb}
  roleRef: {kind: Role, name: named}
  subjects: [{kind: User, name: "system:serviceaccount:ops:two"}]
`

// TestReview: what RBAC allows is what a server would say of a ServiceAccount. That it allows
// something no role says is known only where all roles are.
func TestReview(t *testing.T) {
	t.Parallel()
	s := New(gathered(t, namespacedRoles, roles), "roles.yaml")
	for _, test := range []struct{ user, verb, group, resource, namespace, name, want string }{
		{"ops:one", "patch", "apps", "deployments", "shop", "web", "true"},
		{"ops:one", "patch", "apps", "deployments", "", "", "true"},
		{"ops:one", "patch", "apps", "deployments/status", "shop", "", "true"},
		{"ops:one", "patch", "", "pods/status", "shop", "", "true"},
		{"team:any", "patch", "apps", "deployments", "shop", "", "true"},
		{"ops:one", "delete", "apps", "deployments", "shop", "", "false"},
		{"ops:one", "patch", "", "deployments", "shop", "", "false"},
		{"ops:one", "patch", "apps", "deployments/scale", "shop", "", "false"},
		{"ops:two", "get", "", "pods", "shop", "web", "true"},
		{"ops:two", "get", "", "pods", "shop", "other", "false"},
		{"ops:two", "get", "", "pods", "shop", "", "false"},
		{"ops:two", "get", "", "pods", "", "web", "false"},
		{"ops:two", "get", "", "pods", "bank", "web", "NotSaved"},
	} {
		resource, subresource, _ := strings.Cut(test.resource, "/")
		namespace, _, _ := strings.Cut(test.user, ":")
		body := fmt.Sprintf(`{"spec":{"user":"system:serviceaccount:%s","groups":["system:serviceaccounts:%s"],"resourceAttributes":
			{"verb":%q,"group":%q,"resource":%q,"subresource":%q,"namespace":%q,"name":%q}}}`, test.user, namespace, test.verb,
			test.group, resource, subresource, test.namespace, test.name)
		want := http.StatusOK
		if test.want == "NotSaved" {
			want = http.StatusServiceUnavailable
		}
		if got := send(t, s, http.MethodPost, reviewPath, body, want); !strings.Contains(got, test.want) {
			t.Errorf("%+v: %s", test, got)
		}
	}
	send(t, s, http.MethodPost, reviewPath, `{"spec":{"user":"ann","resourceAttributes":{}}}`, http.StatusServiceUnavailable)
	send(t, s, http.MethodPost, reviewPath, `{"spec":{"user":"system:serviceaccount:ops:one"}}`, http.StatusServiceUnavailable)
}

func request(t *testing.T, s *Server, method, path string, want int) string {
	t.Helper()
	return send(t, s, method, path, "{}", want)
}

func send(t *testing.T, s *Server, method, path, content string, want int) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://dump.invalid"+path, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != want || int64(len(body)) != response.ContentLength {
		t.Errorf("%s %s: %d of %d bytes, %v\n%s", method, path, response.StatusCode, response.ContentLength, err, body)
	}
	return string(body)
}

// TestRefused: no write is taken, and no path that a server does not have is answered as one that
// names an object.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := server(t)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		for _, path := range []string{"/api/v1/namespaces/shop/pods/a", "/api/v1/namespaces/shop/pods?dryRun=All",
			"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", reviewPath} {
			if body := request(t, s, method, path, http.StatusServiceUnavailable); !strings.Contains(body, "NotSaved") {
				t.Error(body)
			}
		}
	}
	request(t, s, http.MethodGet, "/api/v1/pods?watch=true", http.StatusServiceUnavailable)
	for _, path := range []string{"/", "/version", "/api/v2", "/apis/none", "/apis/none/v1", "/api/v1/none", "/api/v1/pods/a",
		"/api/v1/namespaces/shop/nodes", "/api/v1/namespaces/shop/nodes/n1", "/api/v1/namespaces/shop/pods/a/log", "/apis//v1",
		"/apis/apps/v2/deployments", "/healthz", "//"} {
		if body := request(t, s, http.MethodGet, path, http.StatusNotFound); strings.Contains(body, `"name"`) {
			t.Errorf("%s: %s", path, body)
		}
	}
	for path, want := range map[string]string{"/apis/apps": `"kind":"APIGroup"`, "/apis/apps/v1": `"APIResourceList"`, "/api": `"APIVersions"`} {
		if body := request(t, s, http.MethodGet, path, http.StatusOK); !strings.Contains(body, want) {
			t.Errorf("%s: %s", path, body)
		}
	}
	request(t, s, http.MethodGet, "/apis/metrics.example.com/v1beta1", http.StatusServiceUnavailable)
	request(t, s, http.MethodGet, fmt.Sprintf("/api/v1/namespaces/shop/pods?continue=%d", -1), http.StatusBadRequest)
}
