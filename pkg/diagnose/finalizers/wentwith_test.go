package finalizers

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestNamespaceNamed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, want string
		object     map[string]any
	}{
		{"in its status", "cluster-a", map[string]any{"status": map[string]any{"namespaceName": "cluster-a"}}},
		{"in a reference of a list", "db", map[string]any{"spec": map[string]any{
			"refs": []any{map[string]any{"name": "x", "namespace": "db"}}}}},
		{"twice the same", "db", map[string]any{"spec": map[string]any{"secretNamespace": "db"},
			"status": map[string]any{"namespace": "db"}}},
		{"of an object that is in a namespace", "", map[string]any{"metadata": map[string]any{"namespace": "app"},
			"spec": map[string]any{"targetNamespace": "db"}}},
		{"two", "", map[string]any{"spec": map[string]any{"namespace": "a", "targetNamespace": "b"}}},
		{"none", "", map[string]any{"metadata": map[string]any{"namespace": "a"}, "spec": map[string]any{"name": "a"}}},
		{"no name of a namespace", "", map[string]any{"spec": map[string]any{"namespace": "{{ tenant }}"}}},
	} {
		if got := namespaceNamed(&unstructured.Unstructured{Object: test.object}, false); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	claim := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"claimRef": map[string]any{"kind": "Database", "name": "db", "namespace": "shop"}}}}
	if got := namespaceNamed(claim, true); got != "" {
		t.Errorf("%q is the namespace of a claim that waits for the object", got)
	}
}
