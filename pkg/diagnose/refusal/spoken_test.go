package refusal

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestWhatProtectsAnObject: a label or an annotation that a denial names and that is called after a
// protection. What the object lacks, what switches the protection off, and what a denial asks for
// protects nothing.
func TestWhatProtectsAnObject(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ metadata, said, want string }{
		{"{annotations: {nebula-graph.io/delete-protection: 'true'}}",
			"metadata.annotations[nebula-graph.io/delete-protection]: Forbidden: protected cluster cannot be deleted",
			"annotate nebula-graph.io/delete-protection"},
		{"{labels: {policy.kruise.io/delete-protection: Cascading}}",
			"forbidden for policy.kruise.io/delete-protection=Cascading and existing pvc 1>0", "label policy.kruise.io/delete-protection"},
		{"{labels: {example.com/do-not-delete: ''}}", "it has example.com/do-not-delete", "label example.com/do-not-delete"},
		{"{annotations: {example.com/delete-protection: 'false'}}", "set example.com/delete-protection to true", ""},
		{"{labels: {team: a}}", "the label team has to be b", ""},
		{"{annotations: {example.com/prevent-deletion: 'true'}}", "a backup is running", ""},
		{"{}", "example.com/delete-protection is to be set to false", ""},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		var metadata map[string]any
		if err := yaml.Unmarshal([]byte(test.metadata), &metadata); err != nil {
			t.Fatal(err)
		}
		o.Object["metadata"] = metadata
		p, _ := guardedBy(o, saidWords(test.said))
		if got := strings.TrimSpace(p.verb + " " + p.key); got != test.want {
			t.Errorf("%s of %s: %q, want %q", test.said, test.metadata, got, test.want)
		}
	}
}
