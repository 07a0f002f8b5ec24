package status_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
