package stuck

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// needWitness are the codes that say that something is absent, does not run or does not act.
var needWitness = []core.Code{core.FinalizerActorDead, core.FinalizerActorNotFound, core.DependencyMissing,
	core.FinalizerOrphaned, core.NamespaceGone, core.NodeGone, core.CollectorNotRunning, core.CollectorNotActing,
	core.NamespaceControllerNotRunning, core.NamespaceControllerNotActing}

// ofADump compares what why says of everything that is stuck with what it says of a dump: the same
// where nothing is missing. Where a type is missing it may know less, but finds nothing absent, dead
// or idle that is not. What is in progress, in the cluster or as of the dump, is not compared, nor
// what it says otherwise of the cluster before and after the dump: seconds change these answers, and
// in a dump nothing moves.
func ofADump(t *testing.T, c *testcluster.Cluster, atLeast int) {
	t.Helper()
	before := causes(t, "--kubeconfig", c.Kubeconfig())
	dump := c.Dump(t)
	saved, after := causes(t, "--from", dump), causes(t, "--kubeconfig", c.Kubeconfig())
	compared := 0
	for of, want := range before {
		if !slices.Equal(want, after[of]) || slices.Contains(slices.Concat(want, saved[of]), string(core.InProgress)) {
			continue
		}
		compared++
		if !slices.Equal(want, saved[of]) {
			t.Errorf("%s is kept by %v, and in the dump by %v", of, want, saved[of])
		}
	}
	if compared < atLeast {
		t.Errorf("only %d objects were compared, of %d", compared, len(before))
	}
	ofASnapshot(t, c, after, atLeast)
	type claim struct{ without, of, code string }
	var claims []claim
	for _, resource := range []string{"core/pods", "core/nodes", "core/secrets", "apps/deployments",
		"scheduling.k8s.io/priorityclasses"} {
		file := filepath.Join(dump, "cluster-scoped-resources", resource+".json")
		list, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		for of, got := range causes(t, "--from", dump) {
			for _, code := range got {
				if slices.Contains(needWitness, core.Code(code)) && !slices.Contains(saved[of], code) &&
					!slices.Contains(saved[of], string(core.InProgress)) {
					claims = append(claims, claim{resource, of, code})
				}
			}
		}
		if err := os.WriteFile(file, list, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	later := causes(t, "--from", dump) // a Lease that is renewed in years has the time of the dump go on
	for _, c := range claims {
		if !slices.Contains(later[c.of], c.code) {
			t.Errorf("without %s, %s is kept by %s instead of %v", c.without, c.of, c.code, saved[c.of])
		}
	}
}

// ofASnapshot compares what why says of everything that is stuck with what it says of a snapshot that
// has pods whole, and with one that has not. Of what that does not have it knows less, and
// blames nobody for it. Before is what it said last.
func ofASnapshot(t *testing.T, c *testcluster.Cluster, before map[string][]string, atLeast int) {
	t.Helper()
	take := func(more ...string) map[string][]string {
		file := filepath.Join(t.TempDir(), "cluster.snapshot")
		taking := slices.Concat([]string{"snapshot", file, "--kubeconfig", c.Kubeconfig()}, more)
		if code, _, stderr := script.InProcess(t.Context(), "", taking...); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		return causes(t, "--from", file)
	}
	least, most := take(), take("--whole", "pods")
	after := causes(t, "--kubeconfig", c.Kubeconfig())
	compared := 0
	for of, want := range before {
		if !slices.Equal(want, after[of]) || slices.Contains(want, string(core.InProgress)) {
			continue
		}
		compared++
		if !slices.Equal(want, most[of]) {
			t.Errorf("%s is kept by %v, and in a snapshot with pods by %v", of, want, most[of])
		}
		for _, code := range least[of] {
			if slices.Contains(needWitness, core.Code(code)) && !slices.Contains(want, code) {
				t.Errorf("%s is kept by %v, and in a snapshot without by %v", of, want, least[of])
			}
		}
	}
	if compared < atLeast {
		t.Errorf("only %d objects were compared, of %d", compared, len(before))
	}
}

// causes are the codes of the causes that keep each object.
func causes(t *testing.T, of ...string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, stuck := range diagnosis(t, of...).Stuck {
		of := fmt.Sprint(stuck.Object)
		for _, cause := range stuck.Causes {
			all[of] = append(all[of], cause.Code)
		}
	}
	return all
}

// ofObjects is the answer about everything in a file of objects.
func ofObjects(t *testing.T, objects ...string) v1alpha1.Diagnosis {
	t.Helper()
	file := filepath.Join(t.TempDir(), "dump.yaml")
	if err := os.WriteFile(file, []byte(strings.Join(objects, "\n---\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return diagnosis(t, "--from", file)
}

// diagnosis is what why says of everything that is being deleted.
func diagnosis(t *testing.T, of ...string) (d v1alpha1.Diagnosis) {
	t.Helper()
	_, out, stderr := script.InProcess(t.Context(), "", append([]string{"why", "-A", "--no-dry-run", "--older-than=0s", "-o", "json"}, of...)...)
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("kubectl gc why %v: %v\n%s", of, err, stderr)
	}
	return d
}
