package ownerref_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownerref"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.NoControllers()) }

// fixture is a namespace of ConfigMaps behind a proxy.
type fixture struct {
	t         *testing.T
	namespace string
	maps      dynamic.ResourceInterface
	proxy     *faultproxy.Proxy
	client    *cluster.Client
	catalog   *cluster.Catalog
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	c := testcluster.Shared(t)
	d, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, namespace: c.Namespace(t), proxy: faultproxy.Start(t, c.Config())}
	f.maps = d.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(f.namespace)
	if f.client, err = cluster.New(f.proxy.Config(), 0); err != nil {
		t.Fatal(err)
	}
	if f.catalog, err = f.client.Discover(); err != nil {
		t.Fatal(err)
	}
	return f
}

// make makes a ConfigMap with owners, each as NAME=UID, and returns its uid.
func (f *fixture) make(name string, owners ...string) string {
	f.t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
		"data": map[string]any{"a": "b"}, // an object that has lost its only managed field has no managedFields any more
	}}
	var refs []any
	for _, owner := range owners {
		name, uid, _ := strings.Cut(owner, "=")
		refs = append(refs, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid})
	}
	if len(refs) > 0 {
		_ = unstructured.SetNestedSlice(o.Object, refs, "metadata", "ownerReferences")
	}
	made, err := f.maps.Create(f.t.Context(), o, metav1.CreateOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return string(made.GetUID())
}

func (f *fixture) delete(name string) {
	f.t.Helper()
	if err := f.maps.Delete(f.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		f.t.Error(err)
	}
}

// patch changes an object as somebody else would.
func (f *fixture) patch(name, patch string) {
	f.t.Helper()
	if _, err := f.maps.Patch(context.Background(), name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{FieldManager: "somebody"}); err != nil {
		f.t.Error(err)
	}
}

// owners are the names of the owners that an object has.
func (f *fixture) owners(name string) string {
	f.t.Helper()
	o, err := f.maps.Get(f.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	var names []string
	for _, r := range o.GetOwnerReferences() {
		names = append(names, r.Name)
	}
	return strings.Join(names, " ")
}

// at does something once, before or after the first PATCH reaches the server.
func (f *fixture) at(before bool, do func()) {
	patches := func(r *http.Request) bool { return r.Method == http.MethodPatch }
	f.proxy.On(patches, faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if before {
			do()
		}
		next.ServeHTTP(w, r)
		if !before {
			do()
		}
	}))
}

func (f *fixture) object(name string) selection.Object {
	r, _ := f.catalog.Lookup(schema.GroupResource{Resource: "configmaps"})
	return selection.Object{Resource: r, Namespace: f.namespace, Name: name}
}

func (f *fixture) adopt(child, owner string) *ownerref.Adoption {
	f.t.Helper()
	a, err := ownerref.PlanAdopt(f.t.Context(), f.client, f.catalog, f.object(child), f.object(owner), ownerref.Flags{})
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}

func (f *fixture) disown(child string, which ownerref.Which) *ownerref.Disownment {
	f.t.Helper()
	d, err := ownerref.PlanDisown(f.t.Context(), f.client, f.catalog, f.object(child), which)
	if err != nil {
		f.t.Fatal(err)
	}
	return d
}

// refused says that an error has to be a refusal with some words.
func refused(t *testing.T, err error, words string) {
	t.Helper()
	if !answer.IsRefusal(err) || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want a refusal: %s", err, words)
	}
}

// TestAnOwnerThatIsDeletedWhileItIsSetIsRemovedAgain, since the collector would delete the object because of it.
func TestAnOwnerThatIsDeletedWhileItIsSetIsRemovedAgain(t *testing.T) {
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprint("before ", before), func(t *testing.T) {
			f := newFixture(t)
			f.make("owner")
			f.make("child")
			a := f.adopt("child", "owner")
			f.at(before, func() { f.delete("owner") })
			refused(t, a.Perform(t.Context(), cluster.PatchOptions{}), "the owner was deleted meanwhile; the reference was removed again")
			if got := f.owners("child"); got != "" {
				t.Errorf("owners %s", got)
			}
		})
	}
}

// TestAnOwnerThatWasCreatedAgainIsNotAdoptedBy: the plan was about another object.
func TestAnOwnerThatWasCreatedAgainIsNotAdoptedBy(t *testing.T) {
	f := newFixture(t)
	f.make("owner")
	f.make("child")
	a := f.adopt("child", "owner")
	f.delete("owner")
	f.make("owner")
	refused(t, a.Perform(t.Context(), cluster.PatchOptions{}), "the owner was changed meanwhile: another object has its name now")
	if got := f.owners("child"); got != "" {
		t.Errorf("owners %s", got)
	}
}

// TestAnObjectThatWasCreatedAgainIsLeftAlone, by both commands.
func TestAnObjectThatWasCreatedAgainIsLeftAlone(t *testing.T) {
	f := newFixture(t)
	uid := f.make("owner")
	f.make("child", "owner="+uid)
	d := f.disown("child", ownerref.Which{})
	f.delete("child")
	f.make("child", "owner="+uid)
	if err := d.Perform(t.Context(), cluster.PatchOptions{}); !errors.Is(err, ownerref.ErrReplaced) {
		t.Errorf("error %v", err)
	}
	if got := f.owners("child"); got != "owner" {
		t.Errorf("owners %s", got)
	}
}

// TestACycleThatComesUpBeforeTheWriteIsRefused.
func TestACycleThatComesUpBeforeTheWriteIsRefused(t *testing.T) {
	f := newFixture(t)
	f.make("owner")
	child := f.make("child")
	a := f.adopt("child", "owner")
	f.patch("owner", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"child","uid":"`+child+`"}]}}`)
	refused(t, a.Perform(t.Context(), cluster.PatchOptions{}), "it owns that, and the collector would never delete the members of the cycle")
	if got := f.owners("child"); got != "" {
		t.Errorf("owners %s", got)
	}
}

// TestWhatOthersChangeInTheReferencesMeanwhileStays: they stand elsewhere, and the change is made all the same.
func TestWhatOthersChangeInTheReferencesMeanwhileStays(t *testing.T) {
	f := newFixture(t)
	owner, other, third := f.make("owner"), f.make("other"), f.make("third")
	f.make("child", "owner="+owner, "other="+other)
	d := f.disown("child", ownerref.Which{Kind: "configmap", Name: "other"})
	reference := func(name, uid string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q}`, name, uid)
	}
	f.at(true, func() {
		f.patch("child", `{"metadata":{"ownerReferences":[`+strings.Join([]string{reference("third", third), reference("other", other), reference("owner", owner)}, ",")+`]}}`)
	})
	if err := d.Perform(t.Context(), cluster.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := f.owners("child"); got != "third owner" {
		t.Errorf("owners %s", got)
	}
}

// TestADisownmentThatHasBecomeDangerousIsRefused: nobody agreed to that the collector deletes the object.
func TestADisownmentThatHasBecomeDangerousIsRefused(t *testing.T) {
	f := newFixture(t)
	owner, other := f.make("owner"), f.make("other")
	f.make("child", "owner="+owner, "other="+other)
	d := f.disown("child", ownerref.Which{UID: owner})
	if d.Dangerous() {
		t.Fatal("dangerous while another owner is alive")
	}
	f.delete("other")
	refused(t, d.Perform(t.Context(), cluster.PatchOptions{}), "the garbage collector would delete it")
	if got := f.owners("child"); got != "owner other" {
		t.Errorf("owners %s", got)
	}
}

// TestAReferenceThatAControllerSetsAgainIsReported, with the name of the controller.
func TestAReferenceThatAControllerSetsAgainIsReported(t *testing.T) {
	f := newFixture(t)
	owner := f.make("owner")
	f.make("child", "owner="+owner)
	d := f.disown("child", ownerref.Which{})
	f.at(false, func() {
		f.patch("child", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"`+owner+`"}]}}`)
	})
	refused(t, d.Perform(t.Context(), cluster.PatchOptions{}), `the reference to its owner ConfigMap "owner" was put back once by "somebody"`)
}

// TestAReferenceThatAWebhookPutsBackWasNotRemoved.
func TestAReferenceThatAWebhookPutsBackWasNotRemoved(t *testing.T) {
	f := newFixture(t)
	testcluster.Shared(t).PutBack(t, f.namespace)
	owner := f.make("owner")
	f.make("child", "owner="+owner)
	err := f.disown("child", ownerref.Which{}).Perform(t.Context(), cluster.PatchOptions{})
	refused(t, err, "was put back in the same request")
}

// TestADryRunStoresNothing.
func TestADryRunStoresNothing(t *testing.T) {
	f := newFixture(t)
	owner := f.make("owner")
	f.make("child", "owner="+owner)
	f.make("other")
	for _, err := range []error{
		f.disown("child", ownerref.Which{}).Perform(t.Context(), cluster.PatchOptions{DryRun: true}),
		f.adopt("child", "other").Perform(t.Context(), cluster.PatchOptions{DryRun: true}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if got := f.owners("child"); got != "owner" {
		t.Errorf("owners %s", got)
	}
}
