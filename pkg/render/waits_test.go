package render

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
	"github.com/kubectl-gc/kubectl-gc/plugins"
)

var noon = time.Unix(1_700_000_000, 0)

// TestWaitsFor: what is left says what it waits for, and names who has to remove its finalizers,
// where that is known.
func TestWaitsFor(t *testing.T) {
	packs, err := plugins.Packs()
	if err != nil {
		t.Fatal(err)
	}
	known, err := finalizer.Load(packs)
	if err != nil {
		t.Fatal(err)
	}
	claim := graph.Ref{APIVersion: "v1", Kind: "PersistentVolumeClaim", Name: "data"}
	widget := graph.Ref{APIVersion: "example.com/v1", Kind: "Widget", Name: "w"}
	pod := graph.Ref{APIVersion: "v1", Kind: "Pod", Resource: "pods", Name: "p"}
	for _, c := range []struct {
		left act.Blocked
		want string
	}{
		{act.Blocked{Object: claim, Deleting: true, Finalizers: []string{"kubernetes.io/pvc-protection"}},
			"finalizer kubernetes.io/pvc-protection of the PVC protection controller"},
		{act.Blocked{Object: widget, Deleting: true,
			Finalizers: []string{"kubernetes.io/pvc-protection", plan.ForegroundFinalizer}},
			"finalizer kubernetes.io/pvc-protection"},
		{act.Blocked{Object: claim, Deleting: true,
			Finalizers: []string{"example.com/hold", "snapshot.storage.kubernetes.io/pvc-as-source-protection"}},
			"finalizer example.com/hold, snapshot.storage.kubernetes.io/pvc-as-source-protection of the CSI external-snapshotter"},
		{act.Blocked{Object: widget, Deleting: true, Finalizers: []string{"widgets.example.com/finalizer"}},
			"finalizer widgets.example.com/finalizer"},
		{act.Blocked{Object: widget, Deleting: true, Finalizers: []string{"example.com/external"}, Trouble: status.Condition{
			Type: "Synced", Status: "False", Reason: "ReconcileError",
			Message: "cannot delete it:\x1b[2J the bucket is not empty",
		}}, "finalizer example.com/external; Synced is False (ReconcileError): cannot delete it:^[[2J the bucket is not empty"},
		{act.Blocked{Object: claim, Finalizers: []string{"kubernetes.io/pvc-protection"}}, "not deleted yet"},
		{act.Blocked{Object: widget, CollectorsTurn: true}, "the collector has not deleted it yet"},
		{act.Blocked{Object: widget, CollectorsTurn: true, Refused: errors.New("admission webhook \"no\" denied\x1b[2J")},
			`the server refuses its deletion: admission webhook "no" denied^[[2J`},
		{act.Blocked{Object: widget, Deleting: true, Finalizers: []string{plan.ForegroundFinalizer}, BlockingDependents: 3},
			"waits for 3 blocking dependents"},
		{act.Blocked{Object: widget, Deleting: true, Finalizers: []string{plan.ForegroundFinalizer}, BlockingDependents: 1},
			"waits for 1 blocking dependent"},
		{act.Blocked{Object: widget, Deleting: true, Finalizers: []string{plan.ForegroundFinalizer}},
			"the collector has not released it, though no dependent blocks it"},
		{act.Blocked{Object: widget, Deleting: true, Finalizers: []string{plan.OrphanFinalizer}},
			"the collector has not orphaned its dependents yet"},
		{act.Blocked{Object: pod, Deleting: true, DeletionTimestamp: noon.Unix() + 12}, "12s of its grace period left"},
		{act.Blocked{Object: pod, Deleting: true, DeletionTimestamp: noon.Unix() + 12,
			Finalizers: []string{"example.com/hold"}}, "12s of its grace period left; finalizer example.com/hold"},
		{act.Blocked{Object: pod, Deleting: true, DeletionTimestamp: noon.Unix() - 90},
			"its grace period ended 1m30s ago; the kubelet has not confirmed that it stopped"},
		{act.Blocked{Object: widget, Deleting: true, DeletionTimestamp: noon.Unix() - 90}, "terminating"},
	} {
		if got := (Waits{Known: known, Now: noon}).For(c.left); got != c.want {
			t.Errorf("%+v: %s, want %s", c.left, got, c.want)
		}
	}
	if got := (Waits{Now: noon}).For(act.Blocked{Object: claim, Deleting: true,
		Finalizers: []string{"kubernetes.io/pvc-protection"}}); got != "finalizer kubernetes.io/pvc-protection" {
		t.Errorf("nothing is known, and yet: %s", got)
	}
}

// TestLiveView: the head says how far it has come, what somebody can do something about comes
// first, the rest is counted, and no line is as wide as the terminal.
func TestLiveView(t *testing.T) {
	p := act.Progress{Total: 12, BlockedCount: 8, Wave: 2, Waves: 5}
	for i := range 6 {
		p.Blocked = append(p.Blocked, act.Blocked{Object: graph.Ref{Kind: "Pod", Resource: "pods", APIVersion: "v1",
			Name: fmt.Sprintf("pod-%d", i)}, Deleting: true, DeletionTimestamp: noon.Unix() + 30})
	}
	p.Blocked = append(p.Blocked,
		act.Blocked{Object: graph.Ref{Kind: "Deployment", Name: "web"}, Deleting: true,
			Finalizers: []string{plan.ForegroundFinalizer}, BlockingDependents: 1},
		act.Blocked{Object: graph.Ref{Kind: "Widget", Name: "stuck"}, Deleting: true,
			Finalizers: []string{"example.com/" + strings.Repeat("long", 40)}})
	w := Waits{Now: noon}
	lines := w.liveView(p, 5200*time.Millisecond, 60)
	want := []string{
		"4 of 12 deleted after 5s, wave 2 of 5",
		"  Widget/stuck  finalizer example.com/longlonglonglonglong…",
		"  Pod/pod-0     30s of its grace period left",
		"  Pod/pod-1     30s of its grace period left",
		"  Pod/pod-2     30s of its grace period left",
		"  Pod/pod-3     30s of its grace period left",
		"  and 3 more",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	for _, width := range []int{1, 10, 40, 100} {
		for _, line := range w.liveView(p, time.Hour, width) {
			if n := len([]rune(line)); n >= width && width > 1 {
				t.Errorf("%d columns: %q has %d", width, line, n)
			}
		}
	}
	if got := w.Remaining(p.Blocked, len(p.Blocked)); !strings.HasPrefix(got, "Widget/stuck (finalizer ") ||
		!strings.HasSuffix(got, ", and 3 more") {
		t.Errorf("in one line: %s", got)
	}
}
