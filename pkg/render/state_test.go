package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// TestStateIsNotWide: a reason can be of any length, and no state is wider than 40 columns, of
// whatever characters.
func TestStateIsNotWide(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"ReconcileError": "Deleting(26h), Synced: ReconcileError ",
		"CannotConnectToTheProviderOfTheManagedResource": "Deleting(26h), Synced: CannotConnectToT… ",
		strings.Repeat("\u6f22", 30):                     "Deleting(26h), Synced: " + strings.Repeat("\u6f22", 8) + "… ",
	} {
		tree := treeOf(t, graph.TreeOptions{Depth: 0}, "data")
		tree.Readings[tree.Rows[0].ID] = graph.PrinterColumns{Ready: "1/1",
			Failing: &v1alpha1.Condition{Type: "Synced", Status: "False", Reason: reason}}
		var out bytes.Buffer
		if err := render.TreeTable(&out, tree, render.Style{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in:\n%s", want, out.String())
		}
	}
}
