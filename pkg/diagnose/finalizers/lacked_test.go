package finalizers

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestAJobThatFailedIsForgottenOnceALaterOneSucceeds: whoever cleans up by Jobs tries again with another
// one. Those of the same second were made side by side.
func TestAJobThatFailedIsForgottenOnceALaterOneSucceeds(t *testing.T) {
	t.Parallel()
	job := func(name, created, completed string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": name, "creationTimestamp": created},
			"status":   map[string]any{},
		}}
		if completed != "" {
			o.Object["status"] = map[string]any{"completionTime": completed}
		}
		return o
	}
	all := []*unstructured.Unstructured{
		job("first", "2026-01-01T10:00:00Z", ""), job("second", "2026-01-01T10:05:00Z", "2026-01-01T10:06:00Z"),
		job("beside", "2026-01-01T10:05:00Z", ""), job("later", "2026-01-01T10:07:00Z", ""),
	}
	var names []string
	for _, o := range unsucceeded(all) {
		names = append(names, o.GetName())
	}
	if want := []string{"beside", "later"}; !slices.Equal(names, want) {
		t.Errorf("%q have not succeeded, want %q", names, want)
	}
}
