package record

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.Controllers(testcluster.Collector)) }

// TestOrderOfDifferentTypes: events of different types, from different watches, are in the order of
// the server.
func TestOrderOfDifferentTypes(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, `
apiVersion: v1
kind: ConfigMap
metadata: {name: before, finalizers: [example.com/hold]}
`, "-n", ns)
	r := Start(t, c.Config())
	c.Apply(t, `
apiVersion: v1
kind: Secret
metadata: {name: after}
`, "-n", ns)
	c.Kubectl(t, "delete", "configmap", "before", "-n", ns, "--wait=false")
	c.Kubectl(t, "delete", "secret", "after", "-n", ns)
	c.Kubectl(t, "patch", "configmap", "before", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)

	var got []string
	for _, e := range r.Settle(t).In(ns) {
		got = append(got, string(e.Kind)+" "+e.Resource+"/"+e.Name)
	}
	want := []string{
		"created secrets/after", "deletion began configmaps/before", "gone secrets/after", "gone configmaps/before",
	}
	if !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
}

// TestNameIsTakenAgain: two objects that have the same name one after the other are two.
func TestNameIsTakenAgain(t *testing.T) {
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	r := Start(t, c.Config())
	for range 2 {
		c.Kubectl(t, "create", "configmap", "one", "-n", ns)
		c.Kubectl(t, "delete", "configmap", "one", "-n", ns)
	}
	var uids []types.UID
	for _, e := range r.Settle(t).In(ns).Of("configmaps").Kinds(Created) {
		uids = append(uids, e.UID)
	}
	if len(uids) != 2 || uids[0] == uids[1] {
		t.Errorf("the objects that were created are %v, want two", uids)
	}
}

// TestDefinitionIsDeleted: the instances of a CRD are gone before the CRD, and the end of a type is
// not an error.
func TestDefinitionIsDeleted(t *testing.T) {
	c := testcluster.Shared(t)
	c.Apply(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.record.example.com}
spec:
  group: record.example.com
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`)
	ns := c.Namespace(t)
	c.Apply(t, "{apiVersion: record.example.com/v1, kind: Widget, metadata: {name: one}}", "-n", ns)
	r := Start(t, c.Config())
	c.Kubectl(t, "delete", "crd", "widgets.record.example.com")
	h := r.Settle(t)
	widget, definition := h.Of("widgets.record.example.com").Kinds(Gone),
		h.Of("customresourcedefinitions.apiextensions.k8s.io").Kinds(Gone)
	if len(widget) != 1 || len(definition) != 1 || widget[0].Version >= definition[0].Version {
		t.Errorf("the widget and its definition are gone as %v, %v", widget, definition)
	}
}
