package status_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// TestOfDeletion: the condition that tells of the deletion is one that changed since, and speaks of
// it; one that fails comes before one that does not.
func TestOfDeletion(t *testing.T) {
	t.Parallel()
	const before, since = "2026-01-01T09:59:59Z", "2026-01-01T10:00:00Z"
	condition := func(kind, is, reason, message, at string) any {
		return map[string]any{"type": kind, "status": is, "reason": reason, "message": message, "lastTransitionTime": at}
	}
	for name, c := range map[string]struct {
		conditions []any
		want       string
	}{
		"none":              {nil, ""},
		"since":             {[]any{condition("Ready", "False", "", "cannot delete the bucket", since)}, "Ready"},
		"before":            {[]any{condition("Ready", "False", "", "cannot delete the bucket", before)}, ""},
		"of something else": {[]any{condition("Ready", "False", "", "quota exceeded", since)}, ""},
		"by its reason":     {[]any{condition("Synced", "False", "DeletionFailed", "quota exceeded", since)}, "Synced"},
		"by its type":       {[]any{condition("Deleting", "True", "", "two volumes are attached", since)}, "Deleting"},
		"no message":        {[]any{condition("Deleting", "True", "Deleting", "", since)}, ""},
		"neither":           {[]any{condition("Drained", "Unknown", "", "draining", since)}, ""},
		"no time":           {[]any{condition("Ready", "False", "", "cannot delete the bucket", "")}, ""},
		"what fails is first": {[]any{condition("Progressing", "True", "", "deletes its parts", since),
			condition("Ready", "False", "", "cannot delete the bucket", since)}, "Ready"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &unstructured.Unstructured{Object: map[string]any{
				"metadata": map[string]any{"deletionTimestamp": since}, "status": map[string]any{"conditions": c.conditions}}}
			if got, told := status.OfDeletion(o); got.Type != c.want || told != (c.want != "") {
				t.Errorf("got %q, %v, want %q", got.Type, told, c.want)
			}
		})
	}
}
