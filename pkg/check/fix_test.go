package check_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/check"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.NoControllers()) }

// live is a namespace of ConfigMaps behind a proxy.
type live struct {
	t         *testing.T
	namespace string
	maps      dynamic.ResourceInterface
	proxy     *faultproxy.Proxy
	client    *cluster.Client
	catalog   *cluster.Catalog
}

func newLive(t *testing.T) *live {
	t.Helper()
	t.Parallel()
	c := testcluster.Shared(t)
	d, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	l := &live{t: t, namespace: c.Namespace(t), proxy: faultproxy.Start(t, c.Config())}
	l.maps = d.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(l.namespace)
	if l.client, err = cluster.New(l.proxy.Config(), 0); err != nil {
		t.Fatal(err)
	}
	if l.catalog, err = l.client.Discover(); err != nil {
		t.Fatal(err)
	}
	return l
}

// make makes a ConfigMap with owners, each as NAME=UID, and returns its uid.
func (l *live) make(name string, owners ...string) string {
	l.t.Helper()
	made, err := l.maps.Create(context.Background(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "ownerReferences": ownerReferences(owners)},
	}}, metav1.CreateOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	return string(made.GetUID())
}

func ownerReferences(owners []string) []any {
	refs := []any{}
	for _, owner := range owners {
		name, uid, _ := strings.Cut(owner, "=")
		refs = append(refs, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid})
	}
	return refs
}

func (l *live) delete(name string) {
	l.t.Helper()
	if err := l.maps.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		l.t.Error(err)
	}
}

// patch changes an object as somebody else would.
func (l *live) patch(name, patch string) {
	l.t.Helper()
	if _, err := l.maps.Patch(context.Background(), name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{FieldManager: "somebody"}); err != nil {
		l.t.Error(err)
	}
}

// own gives an object other owners.
func (l *live) own(name string, owners ...string) {
	l.t.Helper()
	raw, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": ownerReferences(owners)}})
	if err != nil {
		l.t.Fatal(err)
	}
	l.patch(name, string(raw))
}

// owners are the names of the owners that an object has.
func (l *live) owners(name string) string {
	l.t.Helper()
	o, err := l.maps.Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	var names []string
	for _, r := range o.GetOwnerReferences() {
		names = append(names, r.Name)
	}
	return strings.Join(names, " ")
}

// plan checks one object and plans what to fix.
func (l *live) plan(name string) *check.Fixes {
	l.t.Helper()
	configMaps, _ := l.catalog.Lookup(schema.GroupResource{Resource: "configmaps"})
	q := &selection.Query{Client: l.client, Catalog: l.catalog, Namespace: l.namespace}
	q.Objects = []selection.Object{{Resource: configMaps, Namespace: l.namespace, Name: name}}
	report, err := check.Run(l.t.Context(), q, check.Options{})
	if err != nil {
		l.t.Fatal(err)
	}
	p, err := check.PlanFixes(l.t.Context(), l.client, l.catalog, report)
	if err != nil {
		l.t.Fatal(err)
	}
	return p
}

// before does something once, before the first PATCH reaches the server.
func (l *live) before(do func()) {
	patches := func(r *http.Request) bool { return r.Method == http.MethodPatch }
	l.proxy.On(patches, faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		do()
		next.ServeHTTP(w, r)
	}))
}

const nobody = "nobody=11111111-0000-4000-8000-000000000001"

// TestWhatChangesBetweenThePlanAndTheWriteIsSkipped, or done where it does not matter, and what is left is still found.
func TestWhatChangesBetweenThePlanAndTheWriteIsSkipped(t *testing.T) {
	type world struct {
		*live
		owner, other, child string // uids
	}
	for name, test := range map[string]struct {
		// meanwhile happens after the plan; before, right before the write reaches the server.
		meanwhile, before func(w world)
		// skipped is why it is; empty if it is done. left are the owners of the object in the end, and found how many findings.
		skipped, left string
		found         int
	}{
		"nothing":                                       {left: "owner"},
		"the other owner is deleted":                    {meanwhile: func(w world) { w.delete("owner") }, skipped: "no other owner of it is alive", left: "nobody owner", found: 1},
		"the other owner is recreated":                  {meanwhile: func(w world) { w.delete("owner"); w.make("owner") }, skipped: "no other owner of it is alive", left: "nobody owner", found: 1},
		"the absent owner is created, with another uid": {meanwhile: func(w world) { w.make("nobody") }, left: "owner"},
		"somebody else removes it":                      {meanwhile: func(w world) { w.own("child", "owner="+w.owner) }, skipped: "the reference was removed already", left: "owner"},
		"the object is created again": {
			meanwhile: func(w world) { w.delete("child"); w.make("child", nobody, "owner="+w.owner) }, skipped: "another object has its name now", left: "nobody owner"},
		"the object is being deleted": {
			meanwhile: func(w world) { w.patch("child", `{"metadata":{"finalizers":["example.com/hold"]}}`); w.delete("child") }, skipped: "it is being deleted", left: "nobody owner"},
		"a reference that cannot be resolved is added": {meanwhile: func(w world) {
			w.patch("child", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"nobody","uid":"11111111-0000-4000-8000-000000000001"},
				{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"`+w.owner+`"},{"apiVersion":"unheard.example.com/v1","kind":"Thing","name":"t","uid":"u"}]}}`)
		}, skipped: "another reference of it cannot be resolved", left: "nobody owner t", found: 1},
		"the uid stands in another reference too": {
			meanwhile: func(w world) {
				w.make("second")
				w.own("child", nobody, "owner="+w.owner, "other=11111111-0000-4000-8000-000000000001")
			}, skipped: "another reference of it has the same uid", left: "nobody owner other", found: 1},
		"the references stand elsewhere": {before: func(w world) { w.own("child", "other="+w.other, "owner="+w.owner, nobody) }, left: "other owner"},
		"what does not matter":           {before: func(w world) { w.patch("child", `{"data":{"a":"b"}}`) }, left: "owner"},
		"the other owner loses its reference": {
			before: func(w world) { w.own("child", nobody) }, skipped: "no other owner of it is alive", left: "nobody", found: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{live: newLive(t)}
			w.owner, w.other = w.make("owner"), w.make("other")
			w.child = w.make("child", nobody, "owner="+w.owner)
			p := w.plan("child")
			if len(p.Fixes) != 1 || len(p.Left) != 0 {
				t.Fatalf("plan %+v, left %+v", p.Fixes, p.Left)
			}
			if test.meanwhile != nil {
				test.meanwhile(w)
			}
			if test.before != nil {
				w.before(func() { test.before(w) })
			}
			all := p.Perform(t.Context(), nil)
			switch f := all[0]; {
			case f.Err != nil, f.Done != (test.skipped == ""), !f.Done && (f.Skipped == nil || !strings.Contains(f.Skipped.Error(), test.skipped)):
				t.Errorf("done %t, skipped: %v, error %v", f.Done, f.Skipped, f.Err)
			}
			if got := w.owners("child"); got != test.left {
				t.Errorf("owners %s, want %s", got, test.left)
			}
			if got := p.Remaining(all).Findings; len(got) != test.found {
				t.Errorf("findings %v", lines(got))
			}
		})
	}
}

// TestAReferenceThatAWebhookPutsBackIsNotFixed: the server has taken the write, and the answer shows it.
func TestAReferenceThatAWebhookPutsBackIsNotFixed(t *testing.T) {
	l := newLive(t)
	testcluster.Shared(t).PutBack(t, l.namespace)
	l.make("child", nobody, "owner="+l.make("owner"))
	p := l.plan("child")
	all := p.Perform(t.Context(), nil)
	err := check.Errors(all)
	if all[0].Done || !answer.IsRefusal(err) || !strings.Contains(err.Error(), "was put back in the same request") || len(p.Remaining(all).Findings) != 1 {
		t.Errorf("done %t, error %v", all[0].Done, err)
	}
}
