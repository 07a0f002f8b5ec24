package diagnose

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestFinalizerOfAnActor: dead, alive and unknown, each on an object of its own.
func TestFinalizerOfAnActor(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.Deployment(ns, opOf(ns), 0)+fixture.Lease(ns, "leader", "me", time.Now()))
	c.Apply(t, fixture.ConfigMap(ns, "dead", "example.com/dead")+fixture.ConfigMap(ns, "alive", "example.com/alive")+
		fixture.ConfigMap(ns, "unknown", "nobody.example.net/x"))
	fixture.Free(t, c, ns, "configmap/dead", "configmap/alive", "configmap/unknown")
	deleted(t, c, "configmap", "dead", "alive", "unknown", "-n", ns)
	packs := fixture.Pack(t, "example.com/dead",
		fmt.Sprintf("deployments: ['%s/%s']", ns, opOf(ns))).With(renamed(t,
		fixture.Pack(t, "example.com/alive", fmt.Sprintf("leases: ['%s/leader']", ns))))
	d := examine(t, c.Config(), Options{Known: packs}, ns)
	wantCauses(t, d, map[string][]string{
		"ConfigMap/alive":   {"FinalizerActorAlive ConfigMap/alive"},
		"ConfigMap/dead":    {"FinalizerActorDead ConfigMap/dead"},
		"ConfigMap/unknown": {"FinalizerActorUnknown ConfigMap/unknown"},
	})
	for _, s := range d.Stuck {
		cause := s.Causes[0]
		switch s.Object.Name {
		case "dead":
			wantEvidence(t, cause, "is scaled to 0")
			if want := fmt.Sprintf("kubectl scale deployments.apps/%s -n %s --replicas=1", opOf(ns),
				ns); cause.Commands[0] != want {
				t.Errorf("the first command is %q, want %q", cause.Commands[0], want)
			}
			if want := fmt.Sprintf("kubectl gc unfinalize configmaps/dead -n %s --finalizer example.com/dead",
				ns); cause.Commands[1] != want {
				t.Errorf("the second command is %q, want %q", cause.Commands[1], want)
			}
			if !strings.Contains(cause.Cost, "the bucket leaks") || !strings.Contains(cause.Remedy, "deletes the bucket") {
				t.Errorf("the remedy does not say what starting it does, or the cost not what leaks: %s %s", cause.Remedy,
					cause.Cost)
			}
		case "alive":
			wantEvidence(t, cause, "by me")
		}
	}
}

// TestForegroundWaitsForItsDependents: the chain is followed to what really holds it, and what does
// not block is not named.
func TestForegroundWaitsForItsDependents(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "root"))
	owned(t, c, ns, "middle", "root", true)
	owned(t, c, ns, "leaf", "middle", true, "nobody.example.net/x")
	owned(t, c, ns, "beside", "root", false, "nobody.example.net/y")
	fixture.Free(t, c, ns, "configmap/root", "configmap/middle", "configmap/leaf", "configmap/beside")
	deleted(t, c, "configmap", "root", "-n", ns, "--cascade=foreground")
	deleted(t, c, "configmap", "middle", "-n", ns, "--cascade=foreground")
	deleted(t, c, "configmap", "leaf", "-n", ns)
	d := examine(t, c.Config(), Options{}, ns, subject{"configmaps/root", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/root": {"FinalizerActorUnknown ConfigMap/leaf"}})
	if via := d.Stuck[0].Causes[0].Via; len(via) != 1 || via[0].Name != "middle" {
		t.Errorf("it leads through %v, want middle", via)
	}
}

// TestCollectorHasNotActed: it is its turn, in each of the ways that there are; and nothing else is
// blamed.
func TestCollectorHasNotActed(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "blocked")+fixture.ConfigMap(ns, "done")+fixture.ConfigMap(ns, "orphaning"))
	owned(t, c, ns, "blocker", "blocked", true)
	owned(t, c, ns, "left", "orphaning", true)
	fixture.Free(t, c, ns, "configmap/blocked", "configmap/done", "configmap/orphaning")
	deleted(t, c, "configmap", "blocked", "done", "-n", ns, "--cascade=foreground")
	deleted(t, c, "configmap", "orphaning", "-n", ns, "--cascade=orphan")
	d := examine(t, c.Config(), Options{}, ns)
	wantCauses(t, d, map[string][]string{
		"ConfigMap/blocked":   {"CollectorNotActing ConfigMap/blocker"},
		"ConfigMap/done":      {"CollectorNotActing ConfigMap/done"},
		"ConfigMap/orphaning": {"CollectorNotActing ConfigMap/orphaning"},
	})
	wantEvidence(t, d.Stuck[0].Causes[0], "the garbage collector has not deleted it")
	wantEvidence(t, d.Stuck[2].Causes[0], "1 dependent still names it as an owner")
	if want := "kubectl gc run -n " + ns; d.Stuck[0].Causes[0].Commands[0] != want {
		t.Errorf("the command is %q, want %q", d.Stuck[0].Causes[0].Commands[0], want)
	}
}

// TestNotDeletingWithoutItsOwner: what the collector has to delete and has not says so.
func TestNotDeletingWithoutItsOwner(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "root"))
	owned(t, c, ns, "left", "root", true)
	deleted(t, c, "configmap", "root", "-n", ns)
	d := examine(t, c.Config(), Options{}, ns, subject{"configmaps/left", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/left": {"NotDeleting ConfigMap/left"}})
	wantEvidence(t, d.Stuck[0].Causes[0],
		"its owner, ConfigMap root, does not exist, and the garbage collector has not deleted it yet")
}

// TestCollectorIsNotRunning: kube-controller-manager's Lease says so, and a canary does.
func TestCollectorIsNotRunning(t *testing.T) {
	// It takes more than 10 s beside others: it waits for a canary that is not collected.
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers())
	c.Apply(t, fixture.ConfigMap("default", "done")+
		fixture.Lease("kube-system", "kube-controller-manager", "master-1", time.Now().Add(-3*time.Hour)))
	deleted(t, c, "configmap", "done", "--cascade=foreground")
	d := examine(t, c.Config(), Options{Probe: true}, "default")
	wantCauses(t, d, map[string][]string{"ConfigMap/done": {"CollectorNotRunning ConfigMap/done"}})
	wantEvidence(t, d.Stuck[0].Causes[0], "was renewed last 3 h ago, by master-1")
	wantEvidence(t, d.Stuck[0].Causes[0], "was not collected within 20 s")
	if left := c.Kubectl(t, "get", "configmaps", "-n", "default", "-o", "name"); strings.Contains(left, "canary") {
		t.Errorf("the canary is left: %s", left)
	}

	// The namespace controller is a part of the same program.
	ns := c.Namespace(t)
	deleted(t, c, "namespace", ns)
	wantCauses(t, examine(t, c.Config(), Options{}, ns, subject{"namespaces/" + ns, ""}),
		map[string][]string{"Namespace/" + ns: {"NamespaceControllerNotRunning Namespace/" + ns}})

	// With a collector that cannot come to the object, the canary sings.
	c.Apply(t, fixture.ConfigMap("default", "held", "example.com/x"))
	deleted(t, c, "configmap", "held", "--cascade=orphan")
	denyPatches(t, c, "held")
	c.StartControllers(t, testcluster.Collector)
	testcluster.Eventually(t, "the collector has finished the other", func(ctx context.Context) (bool, error) {
		return fails(c, "get", "configmap", "done", "-o", "name")(ctx), nil
	})
	d = examine(t, c.Config(), Options{Probe: true}, "default", subject{"configmaps/held", "default"})
	for _, cause := range d.Stuck[0].Causes {
		if cause.Finalizer == "orphan" {
			wantEvidence(t, cause, "a canary, a ConfigMap whose owner has never existed, was collected after")
		}
	}
}

// denyPatches has the server deny every update of a config map, to whoever tries.
func denyPatches(t testing.TB, c *testcluster.Cluster, name string) {
	t.Helper()
	c.Apply(t, fmt.Sprintf(`---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: keep}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [configmaps]}]}
  validations: [{expression: "object.metadata.name != '%s'", message: it stays as it is}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: keep}
spec: {policyName: keep, validationActions: [Deny]}
`, name))
	testcluster.Eventually(t, "the policy is enforced", func(ctx context.Context) (bool, error) {
		return c.Command(ctx, "label", "configmap", name, "try=me", "--overwrite", "--dry-run=server").Run() != nil, nil
	})
}

// TestForegroundDeadlock_GC064: a ring and an object that owns itself, each named as such, with a
// command that ends it.
func TestForegroundDeadlock_GC064(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "a")+fixture.ConfigMap(ns, "b")+fixture.ConfigMap(ns, "self"))
	own(t, c, ns, "a", "b", true)
	own(t, c, ns, "b", "a", true)
	own(t, c, ns, "self", "self", true)
	fixture.Free(t, c, ns, "configmap/a", "configmap/b", "configmap/self")
	deleted(t, c, "configmap", "a", "b", "self", "-n", ns, "--cascade=foreground")
	d := examine(t, c.Config(), Options{}, ns)
	wantCauses(t, d, map[string][]string{
		"ConfigMap/a":    {"ForegroundDeadlock ConfigMap/a"},
		"ConfigMap/b":    {"ForegroundDeadlock ConfigMap/a"},
		"ConfigMap/self": {"SelfReference ConfigMap/self"},
	})
	wantEvidence(t, d.Stuck[0].Causes[0], "ConfigMap b waits for ConfigMap a")
	if want := fmt.Sprintf("kubectl gc delete configmaps/self -n %s --cascade=background",
		ns); d.Stuck[2].Causes[0].Commands[0] != want {
		t.Errorf("the command is %q, want %q", d.Stuck[2].Causes[0].Commands[0], want)
	}
}

// TestBlockerThatIsNeverCollected: one of bad scope, and one with an owner of a kind that is not
// served.
func TestBlockerThatIsNeverCollected(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "scope")+fixture.ConfigMap(ns, "kind"))
	c.Apply(t, fmt.Sprintf(
		"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nvalue: 1\nmetadata: {name: %s, ownerReferences: [%s]}\n", ns,
		reference(t, c, ns, "scope", true)))
	t.Cleanup(func() { c.Kubectl(t, "delete", "priorityclass", ns, "--ignore-not-found") })
	c.Apply(t, fmt.Sprintf(
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dependent, namespace: %s, ownerReferences: [%s, {apiVersion: gone.example.com/v1, kind: Gone, name: g, uid: 00000000-0000-0000-0000-000000000001}]}\n", ns, reference(t, c, ns, "kind", true)))
	fixture.Free(t, c, ns, "configmap/scope", "configmap/kind")
	deleted(t, c, "configmap", "scope", "kind", "-n", ns, "--cascade=foreground")
	d := examine(t, c.Config(), Options{}, ns)
	wantCauses(t, d, map[string][]string{
		"ConfigMap/scope": {"BlockerBadScope PriorityClass/" + ns},
		"ConfigMap/kind":  {"BlockerUnresolvable ConfigMap/dependent"},
	})
}

// TestHalfDeletedObject_RO063: nothing holds the object, and the command that is printed ends it.
// The one way to get there through the API is a namespace whose spec.finalizers were emptied before
// it was deleted (NS-005).
func TestHalfDeletedObject_RO063(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	finalize(t, c, ns)
	c.Apply(t, fixture.ConfigMap(ns, "in"))
	deleted(t, c, "namespace", ns)
	d := examine(t, c.Config(), Options{}, ns, subject{"namespaces/" + ns, ""}, subject{"configmaps/in", ns})
	wantCauses(t, d, map[string][]string{
		"Namespace/" + ns: {"HalfDeleted Namespace/" + ns},
		"ConfigMap/in":    {"NotDeleting ConfigMap/in"},
	})
	run(t, c, d.Stuck[0].Causes[0])
	testcluster.Eventually(t, "the namespace is gone", func(ctx context.Context) (bool, error) {
		return fails(c, "get", "namespace", ns, "-o", "name")(ctx), nil
	})
}

// run runs the last command of a cause.
func run(t testing.TB, c *testcluster.Cluster, cause v1alpha1.Cause) {
	t.Helper()
	words := strings.Fields(cause.Commands[len(cause.Commands)-1])
	if words[0] != "kubectl" || words[1] == "gc" {
		t.Fatalf("%v is no command of kubectl alone", words)
	}
	c.Kubectl(t, words[1:]...)
}
