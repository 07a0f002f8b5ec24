package synthetic_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/synthetic"
)

// TestCommandsSeeAllObjects: what the commands count is what there is, with owners of thousands of
// objects and objects of five owners, in 200 namespaces and 500 types.
func TestCommandsSeeAllObjects(t *testing.T) {
	shape := synthetic.Shape{Objects: 20_000, Types: 500, Absent: 100}
	server := synthetic.Start(shape)
	t.Cleanup(server.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := server.WriteKubeconfig(kubeconfig); err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, code int, args ...string) string {
		t.Helper()
		server.Reset()
		got, out, errOut := script.InProcess(t.Context(), "", append(args, "--kubeconfig", kubeconfig)...)
		if got != code {
			t.Fatalf("exit code %d, want %d: %s", got, code, errOut)
		}
		stats := server.Reset()
		if most := int64(shape.Types + shape.Absent + 50); stats.Requests > most || stats.InFlight > 64 {
			t.Errorf("%d requests, at most %d at a time; want at most %d and 64", stats.Requests, stats.InFlight, most)
		}
		return out
	}
	decode := func(t *testing.T, out string, into any) {
		t.Helper()
		if err := json.Unmarshal([]byte(out), into); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("tree", func(t *testing.T) {
		out := run(t, 0, "tree", "clusterrole/"+synthetic.Owner, "-o", "name")
		if got := strings.Count(out, "\n"); got != shape.BelowOwner() {
			t.Errorf("%d objects, want %d", got, shape.BelowOwner())
		}
	})
	t.Run("tree -A", func(t *testing.T) {
		out := run(t, 0, "tree", "-A", "-o", "name")
		if got := strings.Count(out, "\n"); got != shape.Total() {
			t.Errorf("%d objects, want %d", got, shape.Total())
		}
	})
	t.Run("delete", func(t *testing.T) {
		out := run(t, 0, "delete", "clusterrole/"+synthetic.Owner, "--dry-run", "-o", "json")
		var plan v1alpha1.Plan
		decode(t, out, &plan)
		if len(plan.Actions) != shape.BelowOwner() || !plan.Complete {
			t.Errorf("%d deletions, want %d; complete %t", len(plan.Actions), shape.BelowOwner(), plan.Complete)
		}
	})
	t.Run("run", func(t *testing.T) {
		out := run(t, 0, "run", "--dry-run", "-o", "json")
		var plan v1alpha1.Plan
		decode(t, out, &plan)
		if len(plan.Actions) != shape.Absent || !plan.Complete {
			t.Errorf("%d deletions, want %d; complete %t", len(plan.Actions), shape.Absent, plan.Complete)
		}
	})
	t.Run("why", func(t *testing.T) {
		if out := run(t, 0, "why", "-A"); out != "nothing is stuck\n" {
			t.Errorf("why -A prints %q", out)
		}
	})
	t.Run("check", func(t *testing.T) {
		out := run(t, 2, "check", "-A", "-o", "json")
		var report v1alpha1.CheckReport
		decode(t, out, &report)
		if len(report.Findings) != shape.Absent || !report.Complete {
			t.Errorf("%d findings, want %d; complete %t", len(report.Findings), shape.Absent, report.Complete)
		}
	})
	t.Run("one Deployment", func(t *testing.T) {
		out := run(t, 0, "tree", "deployment/"+synthetic.Deployment, "-n", synthetic.Namespace)
		// A line for each, and the head of the table.
		if got, want := strings.Count(out, "\n"), synthetic.OfDeployment+1; got != want {
			t.Errorf("%d lines, want %d:\n%s", got, want, out)
		}
	})
}

func Example() {
	shape := synthetic.Shape{Objects: 1_000_000, Types: 500}
	fmt.Println(shape.Total(), "objects in", shape.Namespaces(), "namespaces;", shape.BelowOwner(), "below one owner")
	// Output: 999773 objects in 10000 namespaces; 500001 below one owner
}
