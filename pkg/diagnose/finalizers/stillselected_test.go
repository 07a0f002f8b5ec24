package finalizers

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
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
