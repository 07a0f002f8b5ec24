package status_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

func TestStagesThatAreNotUp(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"Installing", "Pending", "Failed", "Stopped", "DELETE_FAILED", "Unknown"} {
		if !status.IsUnsettled(stage) {
			t.Errorf("%s is taken to be well", stage)
		}
	}
	for _, stage := range []string{"", "Running", "Serving", "CREATED", "Installed", "Enabled", "green", "Up"} {
		if status.IsUnsettled(stage) {
			t.Errorf("%s is taken not to be well", stage)
		}
	}
	for stage, unfinished := range map[string]bool{"OS Installing": true, "HostInstalling": true, "Provisioning": true, "restoring": true,
		"Uninstalling": false, "Deleting": false, "Terminating": false, "Pending": false, "Reconciling": false, "Running": false,
		"Installed": false, "InstallingFailed": false, "Deprovisioning": false} {
		o := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": stage}}}
		if got := status.Unfinished(o).Text != ""; got != unfinished {
			t.Errorf("%s: unfinished %t, want %t", stage, got, unfinished)
		}
	}
	o := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": map[string]any{"name": "Installing"}}}}
	if got := status.Stage(o); got != (status.Said{Field: "status.phase.name", Text: "Installing"}) {
		t.Errorf("%+v", got)
	}
}

// TestStagesOfParts: a field that is called after what it is the stage of counts where the object says
// nothing else of its own; one in which an object is out of reach is no end.
func TestStagesOfParts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]status.Said{
		"{cr_state: Terminating, pool_status: Unknown}": {Field: "status.pool_status", Text: "Unknown"},
		"{cr_state: Terminating, pool_status: Online}":  {Field: "status.cr_state", Text: "Terminating"},
		"{phase: Pending, poolStatus: Unknown}":         {Field: "status.phase", Text: "Pending"},
		"{phase: Deleting, poolStatus: Offline}":        {Field: "status.poolStatus", Text: "Offline"},
		"{phase: Deleting}":                             {Field: "status.phase", Text: "Deleting"},
		"{upstate: Unknown, estatus: Lost}":             {},
		"{poolStatus: {name: Running}}":                 {},
	} {
		if got := status.Stage(statusOf(t, text)); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"{PostgresClusterStatus: CreateFailed}":   "CreateFailed",
		"{PostgresClusterStatus: Running}":        "",
		"{lastStatus: Degraded, cr_state: Error}": "Error",
		"{upstatus: Failed}":                      "",
	} {
		if got := status.Fails(statusOf(t, text)).Text; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for stage, want := range map[string]bool{"Unknown": true, "offline": true, "Lost": true, "Online": false, "Unknown error": false} {
		if got := status.Unfinished(statusOf(t, "{state: "+stage+"}")).Text != ""; got != want {
			t.Errorf("%s: out of reach %t, want %t", stage, got, want)
		}
	}
}

// statusOf is an object with a status.
func statusOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte("status: "+text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}
