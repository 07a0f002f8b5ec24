package finalizers

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
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

// TestADaemonSetThatIsToRunNowhere: one that its controller has looked at, and for which it has found
// no Node with the labels that it wants.
func TestADaemonSetThatIsToRunNowhere(t *testing.T) {
	t.Parallel()
	const wants = "spec: {template: {spec: {nodeSelector: {gateway: 'true'}}}}"
	for text, want := range map[string]string{
		"{metadata: {generation: 1}, " + wants + ", status: {observedGeneration: 1, desiredNumberScheduled: 0}}":      "gateway=true",
		"{metadata: {generation: 1}, " + wants + ", status: {observedGeneration: 1, desiredNumberScheduled: 2}}":      "",
		"{metadata: {generation: 2}, " + wants + ", status: {observedGeneration: 1, desiredNumberScheduled: 0}}":      "",
		"{metadata: {generation: 1}, " + wants + ", status: {}}":                                                      "",
		"{metadata: {generation: 1}, spec: {}, status: {observedGeneration: 1, desiredNumberScheduled: 0}}":           "",
		"{metadata: {deletionTimestamp: '2026-01-01T10:00:00Z'}, " + wants + ", status: {desiredNumberScheduled: 0}}": "",
	} {
		set := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &set.Object); err != nil {
			t.Fatal(err)
		}
		for _, path := range [][]string{{"metadata", "generation"}, {"status", "observedGeneration"}, {"status", "desiredNumberScheduled"}} {
			if n, is, _ := unstructured.NestedFloat64(set.Object, path...); is { // as a client decodes it
				if err := unstructured.SetNestedField(set.Object, int64(n), path...); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := wantsOthers(set); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
