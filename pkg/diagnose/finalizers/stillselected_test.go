package finalizers

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// TestSelectingNamespaces: only a selector of namespaces that selects by a label the namespace has does;
// one that is empty selects all of them, and says nothing of this one.
func TestSelectingNamespaces(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"{namespaceSelector: {matchLabels: {net: a}}}":                                                   "spec.namespaceSelector",
		"{podSelector: {}, targetNamespaceSelector: {matchExpressions: [{key: net, operator: Exists}]}}": "spec.targetNamespaceSelector",
		"{namespaceSelector: {}}":                      "",
		"{namespaceSelector: {matchLabels: {net: b}}}": "",
		"{namespaceSelector: {matchExpressions: [{key: net, operator: NotIn, values: [a]}]}}":              "",
		"{namespaceSelector: {matchExpressions: [{key: net, operator: Near, values: [a]}]}}":               "",
		"{podSelector: {matchLabels: {net: a}}, namespaceSelector: net=a}":                                 "",
		"{network: {namespaceSelector: {matchLabels: {net: a}}}, namespaceSelectors: [{matchLabels: {}}]}": "",
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte("spec: "+spec), &o.Object); err != nil {
			t.Fatal(err)
		}
		if got := selecting(o, map[string]string{"net": "a"}); got != want {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
}

// TestOwners: an owner is one by its UID, and not by its name or by what it owns itself.
func TestOwners(t *testing.T) {
	t.Parallel()
	object := func(name, uid, owner string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetName(name)
		o.SetUID(types.UID(uid))
		if owner != "" {
			o.SetOwnerReferences([]metav1.OwnerReference{{Name: "demo", UID: types.UID(owner)}})
		}
		return o
	}
	owner, dependent := object("demo", "1", ""), object("demo-profile", "2", "1")
	if !owns(owner, dependent) {
		t.Error("the owner is none")
	}
	for name, by := range map[string]*unstructured.Unstructured{
		"its dependent": object("other", "3", "2"), "a namesake of the owner": object("demo", "4", ""), "itself": dependent,
	} {
		if owns(by, dependent) {
			t.Errorf("%s is its owner", name)
		}
	}
}

// TestTheAccountOfSeveralWorkloads: it is known if all of them run as one, and not if they do not.
func TestTheAccountOfSeveralWorkloads(t *testing.T) {
	t.Parallel()
	workload := func(name, account string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
		o.SetNamespace("ops")
		o.SetName(name)
		_ = unstructured.SetNestedField(o.Object, account, "spec", "template", "spec", "serviceAccountName")
		return o
	}
	for _, test := range []struct {
		of   []*unstructured.Unstructured
		want string
	}{
		{[]*unstructured.Unstructured{workload("a", "operator")}, "operator"},
		{[]*unstructured.Unstructured{workload("a", "operator"), workload("b", "operator")}, "operator"},
		{[]*unstructured.Unstructured{workload("a", "operator"), workload("b", "webhook")}, ""},
		{nil, ""},
	} {
		account, known := dependencies{}.accountOf(t.Context(), core.Responsible{Actor: actor.Actor{Life: actor.Alive, Workloads: test.of}})
		if known != (test.want != "") || known && account != (cluster.ServiceAccount{Namespace: "ops", Name: test.want}) {
			t.Errorf("%d workloads: %+v, %t", len(test.of), account, known)
		}
	}
}
