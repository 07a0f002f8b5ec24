package finalizers

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestWhichNodeIsCalledSo: by its name, its host name, an address, or the id at its provider.
func TestWhichNodeIsCalledSo(t *testing.T) {
	t.Parallel()
	node := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(`{metadata: {name: node-1, labels: {kubernetes.io/hostname: host-1}},
spec: {providerID: 'aws:///eu-1a/i-0abc'}, status: {addresses: [{type: InternalIP, address: 10.0.0.5}]}}`), &node.Object); err != nil {
		t.Fatal(err)
	}
	for called, want := range map[string]string{"node-1": "node-1", "host-1": "node-1", "i-0abc": "node-1", "10.0.0.5": "node-1",
		"0abc": "", "step-1": "", "10.0.0.6": ""} {
		if got := nodeCalled([]*unstructured.Unstructured{node}, called); got != want {
			t.Errorf("%s: %q, want %q", called, got, want)
		}
	}
}

// TestANameOfAnotherKind: a reference that says its kind names a Node only if that is one.
func TestANameOfAnotherKind(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"{nodeRef: {name: a}}": false, "{nodeRef: {kind: Node, name: a}}": false, "{nodeRef: {kind: GraphNode, name: a}}": true,
	} {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		var spec map[string]any
		if err := yaml.Unmarshal([]byte(text), &spec); err != nil {
			t.Fatal(err)
		}
		o.Object["spec"] = spec
		if got := ofAnotherKind(o, "spec.nodeRef.name"); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
