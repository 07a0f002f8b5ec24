package finalizers

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// TestWhatIsSaidLately: the last condition since the deletion comes before a text of the status that
// speaks of it, and what speaks of something else is neither.
func TestWhatIsSaidLately(t *testing.T) {
	t.Parallel()
	const since = "lastTransitionTime: '2026-01-01T10:01:00Z'"
	for text, want := range map[string]string{
		"{phase: Deleting, message: draining 2 of 3 brokers}":                                                                               "status.message of the object says: draining 2 of 3 brokers",
		"{phase: Deleting, message: draining 2 of 3 brokers, conditions: [{type: Purge, status: 'False', message: 9 left, " + since + "}]}": "condition Purge of the object says, since the deletion: 9 left",
		"{phase: Pending, message: waiting for a node}":                                                                                     "",
		"{phase: Deleting}": "",
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte("{apiVersion: example.dev/v1, kind: Queue, metadata: {deletionTimestamp: '2026-01-01T10:00:00Z'}, status: "+text+"}"), &o.Object); err != nil {
			t.Fatal(err)
		}
		got := ""
		if s, _ := New(&core.Examination{}, nil).lately(o); s.what != "" {
			got = s.sentence()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
