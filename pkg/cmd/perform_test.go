package cmd

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// TestWaitsFor: what is left names who has to take its finalizers off, where that is known.
func TestWaitsFor(t *testing.T) {
	known, err := loadKnown()
	if err != nil {
		t.Fatal(err)
	}
	claim := graph.Ref{APIVersion: "v1", Kind: "PersistentVolumeClaim", Name: "data"}
	widget := graph.Ref{APIVersion: "example.com/v1", Kind: "Widget", Name: "w"}
	for _, c := range []struct {
		left act.Left
		want string
	}{
		{act.Left{Object: claim, Deleting: true, Finalizers: []string{"kubernetes.io/pvc-protection"}}, "finalizer kubernetes.io/pvc-protection of the PVC protection controller"},
		{act.Left{Object: widget, Deleting: true, Finalizers: []string{"kubernetes.io/pvc-protection", plan.ForegroundFinalizer}}, "finalizer kubernetes.io/pvc-protection"},
		{act.Left{Object: claim, Deleting: true, Finalizers: []string{"example.com/hold", "snapshot.storage.kubernetes.io/pvc-as-source-protection"}},
			"finalizer example.com/hold, snapshot.storage.kubernetes.io/pvc-as-source-protection of the CSI external-snapshotter"},
		{act.Left{Object: widget, Deleting: true, Finalizers: []string{"widgets.example.com/finalizer"}}, "finalizer widgets.example.com/finalizer"},
		{act.Left{Object: widget, Deleting: true, Finalizers: []string{plan.ForegroundFinalizer}}, "waits for its dependents"},
		{act.Left{Object: claim, Finalizers: []string{"kubernetes.io/pvc-protection"}}, "not deleted yet"},
	} {
		if got := waitsFor(c.left, known); got != c.want {
			t.Errorf("%v: %s, want %s", c.left.Finalizers, got, c.want)
		}
	}
	if got := waitsFor(act.Left{Object: claim, Deleting: true, Finalizers: []string{"kubernetes.io/pvc-protection"}}, nil); got != "finalizer kubernetes.io/pvc-protection" {
		t.Errorf("nothing is known, and yet: %s", got)
	}
}
