package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func read(t *testing.T, object string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(object), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestFailingGoesByTheTypesPolarity: what False says of Ready, True says of Stalled; healthy
// conditions are left out, and types that nobody knows speak for themselves.
func TestFailingGoesByTheTypesPolarity(t *testing.T) {
	for _, test := range []struct {
		condition string
		fails     bool
	}{
		{"{type: Ready, status: 'False', reason: DeletionFailed}", true},
		{"{type: Ready, status: 'True', message: no longer failed}", false},
		{"{type: Ready, status: Unknown, message: reconciliation in progress}", false},
		{"{type: Ready, status: Unknown, message: 'AuthFailure: AWS was not able to validate the credentials'}", true},
		{"{type: Synced, status: 'False', message: 'ProviderConfig \"default\" not found'}", true},
		{"{type: Stalled, status: 'True', message: no}", true},
		{"{type: Stalled, status: 'False', message: error}", false},
		{"{type: ACK.Recoverable, status: 'True', message: 'BucketNotEmpty: still has objects'}", true},
		{"{type: ACK.Terminal, status: 'True'}", true},
		{"{type: ACK.Terminal, status: 'False'}", false},
		{"{type: ACK.ResourceSynced, status: 'False', message: m}", true},
		{"{type: DeletionIsBlocked, status: 'True', message: in use}", true},
		{"{type: InUse, status: 'True', message: m}", true},
		{"{type: InUse, status: 'False', message: m}", false},
		{"{type: NotReady, status: 'False'}", false},
		{"{type: NotReady, status: 'True'}", true},
		{"{type: NotAvailable, status: 'False'}", false},
		{"{type: NotAvailable, status: 'True'}", true},
		{"{type: NotDegraded, status: 'True'}", false},
		{"{type: NoDiskPressure, status: 'True'}", true},
		{"{type: NoPressure, status: 'True'}", false},
		{"{type: NoErrors, status: 'False'}", true},
		{"{type: Unavailable, status: 'False'}", false},
		{"{type: DeletionError, status: 'True', message: m}", true},
		{"{type: InvalidSpecError, message: 'there are no clusters with this name: c6'}", true},
		{"{type: InvalidSpecError}", false},
		{"{type: DeletionError, status: false, message: m}", false},
		{"{type: Ready, status: false, message: m}", true},
		{"{type: Deleting, status: 'True', message: waiting for 3 machines}", true},
		{"{type: Deleting, status: 'True'}", false},
		{"{type: Deleting, status: 'False', message: not being deleted}", false},
		{"{type: MachinesSeen, status: 'True', reason: ReconcileError}", true},
		{"{type: MachinesSeen, status: 'True', reason: NoErrors, message: 0 errors}", false},
		{"{type: MachinesSeen, status: 'False', message: cannot reach the cloud}", true},
		{"{type: MachinesSeen, status: 'False', message: waiting}", false},
	} {
		o := read(t, "status: {conditions: ["+test.condition+"]}")
		if got := len(Failing(o)) == 1; got != test.fails {
			t.Errorf("%s: fails %t, want %t", test.condition, got, test.fails)
		}
	}
}

// TestConditionsAreReadWhereverTheyStand: as a list, in the place of Cluster API's newer versions,
// and as a map by type; anything else is nothing. What tells of the deletion comes first.
func TestConditionsAreReadWhereverTheyStand(t *testing.T) {
	o := read(t, `
status:
  conditions: [{type: Ready, status: 'False', message: old}, text, {status: 'False'}, {type: Paused, status: 5}]
  v1beta2: {conditions: [{type: Deleting, status: 'True', message: waiting for the machines}, {type: Ready, status: 'False', message: old}]}
`)
	var got []string
	for _, c := range Failing(o) {
		got = append(got, c.Field+" "+c.Message)
	}
	want := []string{"status.v1beta2.conditions[Deleting] waiting for the machines", "status.conditions[Ready] old"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	o = read(t, "status: {conditions: {Ready: {status: 'False', message: m}, Degraded: 'True', Failed: 7, Healthy: 'True'}}")
	got = nil
	for _, c := range Failing(o) {
		got = append(got, c.Type)
	}
	if diff := cmp.Diff([]string{"Degraded", "Ready"}, got); diff != "" {
		t.Error(diff)
	}
	o = read(t, "status: {peeringConditions: [{type: APIServerStatus, status: Error, message: a timeout}]}")
	if got := Failing(o); len(got) != 1 || got[0].Field != "status.peeringConditions[APIServerStatus]" {
		t.Errorf("%v", got)
	}
	if got := Conditions(read(t, "status: {previousConditions: [{type: Ready, status: 'False', message: it failed}]}")); len(got) > 0 {
		t.Errorf("%v", got)
	}
	for _, odd := range []string{"{}", "status: text", "status: {conditions: text}", "status: {v1beta2: []}"} {
		if got := Conditions(read(t, odd)); got != nil {
			t.Errorf("%s: %v", odd, got)
		}
	}
}

// TestTextsAreThoseOfAFailure: the fields that are there only if something is wrong, a phase that
// names a failure, and not what a healthy object says.
func TestTextsAreThoseOfAFailure(t *testing.T) {
	for _, test := range []struct {
		status string
		want   []Said
	}{
		{"{phase: Failed, message: quota exceeded}",
			[]Said{{"status.phase", "Failed"}, {"status.message", "quota exceeded"}}},
		{"{phase: Bound, message: ready to use}", nil},
		{"{state: ready, message: up to date}", nil},
		{"{status: DELETE_FAILED, phase: DELETE_FAILED}", []Said{{"status.phase", "DELETE_FAILED"}}},
		{"{state: Warning, description: There are APIRules that block the deletion of APIGateway}",
			[]Said{{"status.description", "There are APIRules that block the deletion of APIGateway"}}},
		{"{state: Warning, description: APIRules do not block the deletion}", nil},
		{"{phase: CREATE_COMPLETE, message: m}", []Said{{"status.message", "m"}}},
		{"{phase: Ready, message: cannot delete while bucket in use}",
			[]Said{{"status.message", "cannot delete while bucket in use"}}},
		{"{reason: NodeLost, message: the node is gone}",
			[]Said{{"status.reason", "NodeLost"}, {"status.message", "the node is gone"}}},
		{"{error: {message: access denied, time: now}}", []Said{{"status.error.message", "access denied"}}},
		{"{lastError: timeout, error: ''}", []Said{{"status.lastError", "timeout"}}},
		{"{lastError: none, error: '<nil>', errors: [no errors], failureReason: 'None'}", nil},
		{"{lastError: 'none of them answers', error: error 0 of 3}",
			[]Said{{"status.error", "error 0 of 3"}, {"status.lastError", "none of them answers"}}},
		{"{lastErrors: [{description: no rights}]}", []Said{{"status.lastErrors.description", "no rights"}}},
		{"{failureReason: DeleteError, failureMessage: m}",
			[]Said{{"status.failureReason", "DeleteError"}, {"status.failureMessage", "m"}}},
		{"{state: DeleteFailed}", []Said{{"status.state", "DeleteFailed"}}},
		{"{state: failed to delete}", []Said{{"status.state", "failed to delete"}}},
		{"{phase: cannot delete the bucket}", []Said{{"status.phase", "cannot delete the bucket"}}},
		{"{operationState: {phase: Failed, message: m}, health: {status: Healthy, message: n}}",
			[]Said{{"status.operationState.message", "m"}}},
		{"{phase: 7, reason: [], error: 5}", nil},
		{"{value: 'failed to delete realm: 404 Not Found', hash: error, config: '{\"on error\": 1}', note: all is well}",
			[]Said{{"status.value", "failed to delete realm: 404 Not Found"}}},
		{"text", nil},
		{"{targets: [{name: east, state: Running, message: the last try failed}, {cluster: west, message: failed to delete web}, {message: cannot drop it}]}",
			[]Said{{"status.targets[west].message", "failed to delete web"}, {"status.targets[2].message", "cannot drop it"}}},
		{"{parts: {db: 'delete failed: in use', web: all is well}, replicas: {a: {state: error, reason: cannot drop slot}}}",
			[]Said{{"status.parts.db", "delete failed: in use"}, {"status.replicas.a.reason", "cannot drop slot"}}},
		{"{members: [{name: b, conditions: [{type: Left, status: 'False', reason: Timeout, message: no leader yet}, {type: Ready, status: 'True', message: m}]}]}",
			[]Said{{"status.members[b].conditions[Left]", "no leader yet"}}},
		{"{targets: [{name: a, status: Deleted, message: was not found}, {name: b, ready: true, lastError: a timeout happened}, {name: c, phase: Done, note: one try failed}]}", nil},
		{"{targets: [{name: a, ready: false, message: cannot drop it}, {name: b, status: Deleting, message: cannot drop it}]}",
			[]Said{{"status.targets[a].message", "cannot drop it"}, {"status.targets[b].message", "cannot drop it"}}},
		{"{regions: {eu: 'Deleted: it was not found', us: 'cannot delete it'}}", []Said{{"status.regions.us", "cannot delete it"}}},
		{"{members: [{name: a, error: a try failed, conditions: [{type: Ready, status: 'True'}]}, {name: b, error: a try failed, conditions: [{type: Ready, status: 'False'}]}]}",
			[]Said{{"status.members[b].error", "a try failed"}}},
		{"{history: [{message: the first try failed}], podConditions: [{type: Ready, message: cannot start}]}", nil},
	} {
		if diff := cmp.Diff(test.want, Texts(read(t, "status: "+test.status))); diff != "" {
			t.Errorf("%s: %s", test.status, diff)
		}
	}
}

// TestFailedSince: of what fails and has changed since the deletion, what speaks of a failure comes
// first; what was said before, or says nothing, does not count.
func TestFailedSince(t *testing.T) {
	for name, test := range map[string]struct{ conditions, want string }{
		"before":        {"{type: Ready, status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z', message: cannot}", ""},
		"no message":    {"{type: Ready, status: 'False', lastTransitionTime: '2026-03-01T00:00:00Z'}", ""},
		"well":          {"{type: Ready, status: 'True', lastTransitionTime: '2026-03-01T00:00:00Z', message: all set}", ""},
		"not completed": {"{type: EvacuationCompleted, status: 'False', lastTransitionTime: '2026-03-01T00:00:00Z', message: two left}", "two left"},
		"a reason only": {"{type: Ready, status: 'False', lastTransitionTime: '2026-03-01T00:00:00Z', reason: SkippedNodeNotFound}", "SkippedNodeNotFound"},
		"a message first": {"{type: Ready, status: 'False', lastTransitionTime: '2026-03-01T00:00:00Z', reason: SkippedNodeNotFound}, " +
			"{type: Available, status: 'False', lastTransitionTime: '2026-03-01T00:00:00Z', message: not yet}", "not yet"},
		"no failure": {"{type: Ready, status: 'False', lastTransitionTime: '2026-03-01T00:00:00Z', reason: Deleting}", ""},
		"the failure": {"{type: Ready, status: 'False', lastTransitionTime: '2026-03-01T00:00:00Z', message: not yet}, " +
			"{type: LoggedIn, status: 'False', lastTransitionTime: '2026-03-01T00:00:00Z', message: unauthorized}", "unauthorized"},
	} {
		o := read(t, "metadata: {deletionTimestamp: '2026-02-01T00:00:00Z'}\nstatus: {conditions: ["+test.conditions+"]}")
		if c, _ := FailedSince(o); c.Message != test.want {
			t.Errorf("%s: %q, want %q", name, c.Message, test.want)
		}
	}
}

// TestTheTypeSaysWhatAReasonMeans: where no condition has a message, one whose type says that it fails
// comes before one that counts by its reason alone.
func TestTheTypeSaysWhatAReasonMeans(t *testing.T) {
	o := read(t, `metadata: {deletionTimestamp: '2026-02-01T00:00:00Z'}
status: {conditions: [{type: Running, status: 'False', reason: Failed, lastTransitionTime: '2026-03-01T00:00:00Z'},
  {type: Failure, status: 'True', reason: Failed, lastTransitionTime: '2026-03-01T00:00:00Z'}]}`)
	if c, _ := FailedSince(o); c.Type != "Failure" {
		t.Errorf("%s, want Failure", c.Type)
	}
}

// TestTheFirstFailureAndTheStage: what a status says of a failure, and what stage it says it is in.
func TestTheFirstFailureAndTheStage(t *testing.T) {
	for _, test := range []struct {
		status        map[string]any
		failure, said string
	}{
		{map[string]any{"phase": "Error"}, "status.phase", "status.phase"},
		{map[string]any{"Status": "Reconciling", "ErrorMessage": ""}, "", "status.Status"},
		{map[string]any{"phase": "Running", "message": "all is well"}, "", ""},
		{map[string]any{"message": "waits for the volume"}, "", ""},
		{map[string]any{"lastError": "cannot log in", "state": "Ready"}, "status.lastError", ""},
		{map[string]any{"state": "Error", "message": "it failed to log in"}, "status.message", "status.state"},
		{map[string]any{"state": "Error", "lastOperation": map[string]any{"operation": "failed to fetch the mapping"}},
			"status.lastOperation.operation", "status.state"},
		{map[string]any{"lastOperation": map[string]any{"operation": "installation is ready"}}, "", ""},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"status": test.status}}
		if f, s := Fails(o).Field, Stage(o).Field; f != test.failure || s != test.said {
			t.Errorf("%v: %q and %q, want %q and %q", test.status, f, s, test.failure, test.said)
		}
	}
}

// TestNoFailure: what says that there is none, or is only called after failures, tells of none.
func TestNoFailure(t *testing.T) {
	for text, want := range map[string]bool{
		"3 done, failed: 0, errors: 0":                          false,
		"ok=3 failed=0":                                         false,
		"last sync succeeded, last error: <nil>":                false,
		"it has never failed":                                   false,
		"failureThreshold is 3":                                 false,
		"spread over failureDomains a and b":                    false,
		"0 rejected, 4 accepted":                                false,
		"NoError":                                               false,
		"NoConflicts":                                           false,
		"updated, failedReplicas: 0":                            false,
		"done: 3, failed jobs: 0.":                              false,
		"{failed: false, error: null}":                          false,
		"lastError: <none>":                                     false,
		"0/3 failed":                                            false,
		"0 of 3 nodes failed":                                   false,
		"none failed":                                           false,
		"nothing is missing":                                    false,
		"no pods have failed":                                   false,
		"the volume is not in use":                              false,
		"the quota is not exceeded":                             false,
		"failurePolicy: Fail":                                   false,
		"Running 'upgrade' action with timeout of 5m0s":         false,
		"Running health checks with a timeout of 4m59s":         false,
		"failed to delete: 0 of 3 backends answered":            true,
		"none is ready, 2 failed":                               true,
		"no pods: the request failed":                           true,
		"not deleted, it is in use":                             true,
		"0/3 nodes are ready: 3 are unreachable, 1 failed":      true,
		"gave up with a timeout of 5m0s: the deadline exceeded": true,
		"failed: falsehood":                                     true,
		"failed: 1, errors: 0":                                  true,
		"error 0: connection refused":                           true,
		"errors: 0x1f":                                          true,
		"no volume, failed":                                     true,
		"FinalizeError":                                         true,
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": text}}}
		if got := Fails(o).Text != ""; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
