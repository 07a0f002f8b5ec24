package finalizers

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
)

// TestAliveIsSaidWithATime: an actor that lives is to be let finish only while the object was
// deleted, or changed, a short time ago.
func TestAliveIsSaidWithATime(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	deployment := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"namespace": "ops", "name": "op"},
		"spec":     map[string]any{"replicas": int64(1)}, "status": map[string]any{"readyReplicas": int64(1)}}}
	e := New(&core.Examination{Now: now, Snapshot: core.Snapshot{Catalog: &cluster.Catalog{}}}, nil)
	for _, test := range []struct {
		name             string
		deleted, changed time.Duration // ago
		evidence, remedy string
		command          string
	}{
		{"it", 30 * time.Second, 0, "it was changed or deleted less than 2 min ago", "is alive: let it finish",
			"kubectl logs -n ops deployment/op --all-containers --since=1m | grep it"},
		{"it", 5 * time.Minute, 0, "by its conditions and managedFields, nothing has changed on it for 5 min", "is alive: let it finish",
			"kubectl logs -n ops deployment/op --all-containers --since=6m | grep it"},
		{"it", 3 * time.Hour, 4 * time.Minute, "by its conditions and managedFields, nothing has changed on it for 4 min", "is alive: let it finish",
			"kubectl logs -n ops deployment/op --all-containers --since=181m | grep it"},
		{"-v", 3 * time.Hour, 0, "by its conditions and managedFields, nothing has changed on it for 3 h", "does not seem to be about to finish",
			"kubectl logs -n ops deployment/op --all-containers --since=181m | grep -e -v"},
		{"$(id)", 72 * time.Hour, 2 * time.Hour, "by its conditions and managedFields, nothing has changed on it for 2 h", "does not seem to be about to finish",
			"kubectl logs -n ops deployment/op --all-containers --since=1440m | grep '$(id)'"},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"kind": "Widget"}}
		o.SetName(test.name)
		o.SetDeletionTimestamp(&metav1.Time{Time: now.Add(-test.deleted)})
		if test.changed > 0 {
			o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "manager", Time: &metav1.Time{
				Time: now.Add(-test.changed)}}})
		}
		got := e.busy(core.ResponsibleFor(o, actor.Actor{Finalizer: "example.com/f", Who: "Op", Life: actor.Alive,
			Workloads: []*unstructured.Unstructured{deployment}}), core.Finding{Actor: "Op"}, saying{}, lacked{}, nil).Printed()
		if !slices.Contains(got.Evidence, test.evidence) || !strings.Contains(got.Remedy, test.remedy) ||
			!slices.Contains(got.Commands, test.command) {
			t.Errorf("deleted %s and changed %s ago: %q, %q, %q", test.deleted, test.changed, got.Evidence, got.Remedy,
				got.Commands)
		}
	}
}

// TestLogsAreThoseOfAllPods: kubectl logs shows one of several pods of a workload, and that may be
// the one that is not the leader, or is on another node.
func TestLogsAreThoseOfAllPods(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	e := New(&core.Examination{Now: now, Snapshot: core.Snapshot{Catalog: &cluster.Catalog{}}}, nil)
	o := &unstructured.Unstructured{Object: map[string]any{"kind": "Widget"}}
	o.SetName("it")
	o.SetDeletionTimestamp(&metav1.Time{Time: now.Add(-time.Hour)})
	for kind, status := range map[string]map[string]any{
		"Deployment": {"readyReplicas": int64(2)}, "DaemonSet": {"desiredNumberScheduled": int64(3), "numberReady": int64(3)},
	} {
		w := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": kind,
			"metadata": map[string]any{"namespace": "ops", "name": "op"}, "status": status,
			"spec": map[string]any{"replicas": int64(2), "selector": map[string]any{"matchLabels": map[string]any{"app": "op"}}}}}
		got := e.busy(core.ResponsibleFor(o, actor.Actor{Finalizer: "example.com/f", Who: "Op", Life: actor.Alive,
			Workloads: []*unstructured.Unstructured{w}}), core.Finding{Actor: "Op"}, saying{}, lacked{}, nil).Printed()
		want := "kubectl logs -n ops -l app=op --prefix --tail=-1 --all-containers --since=61m | grep it"
		if !slices.Contains(got.Commands, want) {
			t.Errorf("%s: %q", kind, got.Commands)
		}
	}
}

// TestOnlyWhatIsDatedAndOfOneFinalizerPromises that the finalizer goes once it is settled.
func TestOnlyWhatIsDatedAndOfOneFinalizerPromises(t *testing.T) {
	for _, test := range []struct {
		says       saying
		finalizers []string
		want       bool
	}{
		{saying{what: "condition Ready", message: "cannot delete it", ofDeletion: true, dated: true}, []string{"example.com/f"}, true},
		{saying{what: "condition Ready", message: "cannot delete it", ofDeletion: true, dated: true}, []string{"example.com/f", "example.com/g"}, false},
		{saying{what: "status.lastError", message: "cannot delete it", ofDeletion: true}, []string{"example.com/f"}, false},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"kind": "Widget"}}
		o.SetFinalizers(test.finalizers)
		got := (New(&core.Examination{}, nil)).busy(core.ResponsibleFor(o, actor.Actor{Who: "Op"}),
			core.Finding{}, test.says, lacked{}, nil)
		if strings.Contains(got.Remedy, "removes the finalizer once that is settled") != test.want {
			t.Errorf("%+v of %q: %q", test.says, test.finalizers, got.Remedy)
		}
	}
}

// TestWhatAnAPIDoesNotHave: where the API of a cloud says that it does not have what is to be
// deleted, that may be gone for good. What Kubernetes does not find is another matter.
func TestWhatAnAPIDoesNotHave(t *testing.T) {
	for message, want := range map[string]bool{
		"failed to delete resource group: resources.GroupsClient#Get: Failure responding to request: StatusCode=404": true,
		"cannot delete it: status code: 404":                                                         true,
		"rpc error: code = NotFound desc = Failed to find access point for volume: fs-1":             true,
		"Error deleting folder: googleapi: Error 404: The requested entity was not found., notFound": true,
		"InvalidVpcID.NotFound: The vpc ID 'vpc-1' does not exist":                                   true,
		"ResourceNotFoundException: No cluster found for name: a":                                    true,
		"RESPONSE 404: 404 Not Found ERROR CODE: ResourceGroupNotFound":                              true,
		"cannot delete it: SecretNotFound":                                                           false,
		"rpc error: code = Internal desc = not found":                                                false,
		"cannot delete it: StatusCode=409":                                                           false,
		"java.lang.ClassNotFoundException: com.example.Handler":                                      false,
		"java.util.NoSuchElementException: No value present":                                         false,
		"cannot delete it: StatusCode=4040":                                                          false,
		`cannot delete it: Secret "a404" not found`:                                                  false,
	} {
		got := saying{what: "warning Failed", message: message, ofDeletion: true, dated: true}.remedy("Op", true)
		if strings.Contains(got, "if everything is gone") != want {
			t.Errorf("%s: %q", message, got)
		}
	}
}

// TestAFailedPhaseIsNoReasonToWait: where the status names a failure, nobody is told to let it finish.
func TestAFailedPhaseIsNoReasonToWait(t *testing.T) {
	for _, test := range []struct {
		status map[string]any
		waits  bool
	}{
		{map[string]any{"phase": "Error"}, false},
		{map[string]any{"state": "Failed"}, false},
		{map[string]any{"message": "cannot reach the bucket"}, false},
		{map[string]any{"phase": "Running", "message": "all is well"}, true},
		{map[string]any{"phase": "Deleting"}, true},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "status": test.status}}
		e := New(&core.Examination{Snapshot: core.Snapshot{Catalog: &cluster.Catalog{}}}, nil)
		got := e.busy(core.ResponsibleFor(o, actor.Actor{Who: "Op", Life: actor.Alive}), core.Finding{Actor: "Op"}, saying{},
			lacked{}, nil).Printed()
		if says := strings.Contains(got.Remedy, "Find out by its log whether Op"); says == test.waits {
			t.Errorf("%v: %q", test.status, got.Remedy)
		}
	}
}
