package finalizers

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// TestWhoMissedADeletionLooksAgain: one that was down at the deletion is not restarted once more, and
// nothing is advised while it may be about to finish.
func TestWhoMissedADeletionLooksAgain(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	e := New(&core.Examination{Now: now, Snapshot: core.Snapshot{Catalog: &cluster.Catalog{}}}, nil)
	of := v1alpha1.ObjectRef{APIVersion: "example.com/v1", Kind: "Widget", Resource: "widgets", Namespace: "app", Name: "it"}
	const touch = "changes the object, so that Deployment ops/op looks at it again"
	const restart = "starts its pods again, which list everything"
	for _, test := range []struct {
		deleted, up    time.Duration // ago
		ready          int64
		written        time.Duration // ago, by a program; 0 is never
		want, evidence string
	}{
		{3 * time.Hour, time.Hour, 1, 0, touch, "became available 60 min ago, after the deletion of the object, and was not before"},
		{3 * time.Hour, 72 * time.Hour, 1, 0, restart, ""},
		{time.Minute, 72 * time.Hour, 1, 0, "", ""},
		{time.Minute, 30 * time.Second, 1, 0, "", "became available 30 s ago"},
		{3 * time.Hour, time.Hour, 0, 0, "", ""},
		{3 * time.Hour, 72 * time.Hour, 1, 2 * time.Hour, "", ""},
		{3 * time.Hour, time.Hour, 1, 30 * time.Minute, "", ""},
		{3 * time.Hour, time.Hour, 1, 2 * time.Hour, touch, "became available 60 min ago"},
	} {
		w := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"namespace": "ops", "name": "op"}, "spec": map[string]any{"replicas": int64(1)},
			"status": map[string]any{"readyReplicas": test.ready, "conditions": []any{map[string]any{"type": "Available",
				"status": "True", "lastTransitionTime": now.Add(-test.up).Format(time.RFC3339)}}}}}
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
		o.SetName("it")
		o.SetNamespace("app")
		o.SetDeletionTimestamp(&metav1.Time{Time: now.Add(-test.deleted)})
		if test.written > 0 {
			o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "op", Time: &metav1.Time{Time: now.Add(-test.written)},
				FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`)}})
		}
		f := e.busy(core.ResponsibleFor(o, actor.Actor{Finalizer: "example.com/f", Who: "Op", Life: actor.Alive,
			Workloads: []*unstructured.Unstructured{w}}), core.Finding{Actor: "Op"}, saying{}, lacked{}, nil)
		got, advised := f.Printed(), ""
		for _, step := range f.Commands {
			if line := step.Write(of); step.Does == touch && line !=
				"kubectl annotate widgets.example.com/it -n app gc.kubectl.dev/touched=2026-01-02T12:00:00Z --overwrite" {
				t.Error(line)
			}
			if step.Does == touch || step.Does == restart {
				advised += step.Does
			}
		}
		seen := strings.Join(got.Evidence, "\n")
		if advised != test.want {
			t.Errorf("deleted %s and up %s ago: %q, want %q", test.deleted, test.up, advised, test.want)
		}
		if !strings.Contains(seen, test.evidence) || test.evidence == "" && strings.Contains(seen, "became available") {
			t.Errorf("deleted %s and up %s ago: %q, want %q", test.deleted, test.up, seen, test.evidence)
		}
		if strings.Contains(got.Remedy, "may have missed the deletion") != (test.want != "") {
			t.Errorf("deleted %s and up %s ago: %q", test.deleted, test.up, got.Remedy)
		}
	}
}
