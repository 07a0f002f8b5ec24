package finalizers

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestWebhookThatLeavesAnObjectOut: only a webhook of the domain of the finalizer, for objects of the
// type, that selects by a label of the domain which the object lacks.
func TestWebhookThatLeavesAnObjectOut(t *testing.T) {
	t.Parallel()
	const pods = "rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]"
	for hook, want := range map[string]string{
		"{name: pods.ml.example.com, objectSelector: {matchExpressions: [{key: ml.example.com/model, operator: Exists}]}, " + pods + "}": "ml.example.com/model",
		"{name: ml.example.com, objectSelector: {matchLabels: {example.com/on: 'yes'}}, " + pods + "}":                                   "example.com/on=yes",
		"{name: ml.example.com, objectSelector: {matchLabels: {ml.example.com/mine: 'true'}}, " + pods + "}":                             "",
		"{name: ml.example.com, objectSelector: {matchLabels: {app: web}}, " + pods + "}":                                                "",
		"{name: ml.example.com, " + pods + "}": "",
		"{name: other.example.com, objectSelector: {matchLabels: {ml.example.com/model: a}}, " + pods + "}":                                                                      "",
		"{name: ml.example.com, objectSelector: {matchLabels: {ml.example.com/model: a}}, rules: [{apiGroups: [apps], apiVersions: [v1], operations: ['*'], resources: ['*']}]}": "",
	} {
		config := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte("kind: MutatingWebhookConfiguration\nwebhooks: ["+hook+"]"), &config.Object); err != nil {
			t.Fatal(err)
		}
		hooks, err := admission.Webhooks(config)
		if err != nil {
			t.Fatal(err)
		}
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetLabels(map[string]string{"ml.example.com/mine": "true"})
		if got := leftOut(hooks[0], graph.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}, o, "ml.example.com"); got != want {
			t.Errorf("%s: %q, want %q", hook, got, want)
		}
	}
}
