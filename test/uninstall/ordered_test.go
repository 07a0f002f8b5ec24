package uninstall

import (
	"os/exec"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/operator"
	"github.com/kubectl-gc/kubectl-gc/test/script"
)

// TestADeletionInStagesEnds: with --ordered the operators of each bundle are there until they have
// released all that waits for them, nothing is created again, and nothing is left of the bundle and
// of what its operators have created. They take turns: the API server shows types for a while that
// one has deleted, and cannot list them for the plan of the next.
func TestADeletionInStagesEnds(t *testing.T) {
	t.Parallel()
	for _, i := range start(t, false, certManager(t), flux(t), crossplane(t), olm(t)) {
		t.Run(i.name, func(t *testing.T) {
			plan := i.planOrdered(t)
			i.deleteOrdered(t)
			i.testUninstalled(t, plan)
		})
	}
}

// TestADeletionInStagesOfAnOperatorInNoPack does the same with one that is known by its permissions
// only, and goes on where an earlier command stopped.
func TestADeletionInStagesOfAnOperatorInNoPack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		stop func(*installed, *testing.T)
	}{
		{"that is not stopped", func(*installed, *testing.T) {}},
		{"after a stage has taken too long", (*installed).timeOut},
		{"after it was interrupted in the first stage", (*installed).interrupt},
		{"after it was killed in the second stage", (*installed).kill},
	}
	all := start(t, false, gizmo(t, "gizmo"), gizmo(t, "sprocket"), gizmo(t, "cog"), gizmo(t, "lever"))
	for n, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			i := all[n]
			plan := i.planOrdered(t)
			test.stop(i, t)
			i.deleteOrdered(t)
			i.testUninstalled(t, plan)
		})
	}
}

// planOrdered is the plan of a deletion in stages. It calls nothing stuck, and deletes all that
// operators release.
func (i *installed) planOrdered(t *testing.T) v1alpha1.Plan {
	t.Helper()
	plan := i.plan(t, "--ordered")
	if len(plan.Stuck) > 0 || len(plan.OrderCycle) > 0 || len(plan.Stages) < 4 {
		t.Errorf("the plan has %d stages, calls stuck %q and cannot order %q", len(plan.Stages), names(stuckIn(plan)),
			names(plan.OrderCycle))
	}
	deleted := map[types.UID]bool{}
	for _, d := range plan.Deleted {
		deleted[types.UID(d.UID)] = true
	}
	for uid, name := range i.held {
		if !deleted[uid] {
			t.Errorf("by the plan %s is not deleted", name)
		}
	}
	return plan
}

// ordered is a deletion in stages, as a process.
func (i *installed) ordered(more ...string) (*exec.Cmd, *script.Buffer) {
	cmd := exec.Command("kubectl-gc",
		append([]string{"delete", "-f", i.file, "--ordered", "--yes", "--kubeconfig", i.cluster.Kubeconfig(), "--timeout=2m"},
			more...)...)
	out := &script.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

// deleteOrdered deletes a bundle in stages. Operators that are held come to an end with their work
// when the first stage has begun.
func (i *installed) deleteOrdered(t *testing.T) {
	t.Helper()
	cmd, out := i.ordered()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if i.holding {
		until(t, out, "stage 1 of 4")
		i.resume()
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if testing.Verbose() {
		t.Logf("%s", out)
	}
}

// testUninstalled tests that a bundle is gone with all that belongs to it, and that its operators
// have released what waited for them, and have created nothing again.
func (i *installed) testUninstalled(t *testing.T, plan v1alpha1.Plan) {
	t.Helper()
	now := objects(t, i.cluster)
	var left []string
	for _, d := range plan.Deleted {
		if o, is := now[types.UID(d.UID)]; is {
			left = append(left, o.name)
		}
	}
	for _, o := range i.operators {
		for _, made := range o.Created() {
			if _, is := now[made.UID]; is {
				left = append(left, nameOf(made.Kind, made.Namespace, made.Name))
			}
		}
		if again := o.Recreated(); len(again) > 0 {
			t.Errorf("%s has created again what was deleted while it belonged to something: %q", o, again)
		}
		if o.Alive() {
			t.Errorf("%s works", o)
		}
	}
	for uid, name := range i.held {
		if !slices.ContainsFunc(i.operators, func(o *operator.Operator) bool { return o.Released(uid) }) {
			t.Errorf("no operator has released %s", name)
		}
	}
	slices.Sort(left)
	if left = slices.Compact(left); len(left) > 0 {
		t.Errorf("these are left: %q", left)
	}
	there := map[string]bool{}
	for _, o := range now {
		there[o.name] = true
	}
	for _, name := range i.documents(t) {
		if there[name] {
			t.Errorf("%s is there", name)
		}
	}
}

// documents are the names of what bundle.yaml has.
func (i *installed) documents(t *testing.T) []string {
	t.Helper()
	all, err := operator.Documents(i.text(t, "bundle.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range all {
		names = append(names, nameOf(o.GetKind(), o.GetNamespace(), o.GetName()))
	}
	return names
}
