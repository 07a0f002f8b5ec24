package status_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

func TestLastChange(t *testing.T) {
	deleted := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(d time.Duration) string { return deleted.Add(d).Format(time.RFC3339) }
	condition := func(of string, d time.Duration) any {
		return map[string]any{"type": of, "status": "False", "lastTransitionTime": at(d)}
	}
	wrote := func(manager string, d time.Duration) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Time: &metav1.Time{Time: deleted.Add(d)},
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{},"f:status":{}}`)}
	}
	finalizing := wrote("another", time.Hour)
	finalizing.FieldsV1 = metav1.NewFieldsV1(`{"f:metadata":{"f:finalizers":{}}}`)
	for name, test := range map[string]struct {
		conditions []any
		writers    []metav1.ManagedFieldsEntry
		says       string
		since      bool
	}{
		"nothing is said": {},
		"a condition before the deletion": {conditions: []any{condition("Ready", -time.Hour)},
			says: "its condition Ready was changed"},
		"the last of two after it": {conditions: []any{condition("Ready", time.Minute), condition("Synced", time.Hour)},
			says: "its condition Synced was changed", since: true},
		"in the second of it": {conditions: []any{condition("Ready", 0)}, says: "its condition Ready was changed",
			since: true},
		"a program wrote later": {conditions: []any{condition("Ready", time.Minute)},
			writers: []metav1.ManagedFieldsEntry{wrote("manager", time.Hour)}, says: `field manager "manager" wrote to it`,
			since: true},
		"a program wrote metadata only": {conditions: []any{condition("Ready", -time.Minute)},
			writers: []metav1.ManagedFieldsEntry{finalizing}, says: "its condition Ready was changed"},
		"a person did": {conditions: []any{condition("Ready", -time.Minute)},
			writers: []metav1.ManagedFieldsEntry{wrote("kubectl-edit", time.Hour)}, says: "its condition Ready was changed"},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": test.conditions}}}
		o.SetDeletionTimestamp(&metav1.Time{Time: deleted})
		o.SetManagedFields(test.writers)
		if c, since := status.ChangedSinceDeletion(o); c.Says != test.says || since != test.since {
			t.Errorf("%s: %q, since the deletion %t, want %q, %t", name, c.Says, since, test.says, test.since)
		}
	}
}
