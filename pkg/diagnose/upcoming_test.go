package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestNamespaceNamesAllThatBlocksIt: six objects, in the order in which they come up: first the
// pods, then what has to wait for them.
func TestNamespaceNamesAllThatBlocksIt(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, podOn(ns, "p1", "", "", "nobody.example.net/a")+podOn(ns, "p2", "", "", "nobody.example.net/b")+
		fixture.ConfigMap(ns, "c1", "nobody.example.net/c")+fixture.ConfigMap(ns, "c2", "nobody.example.net/c")+
		fixture.ConfigMap(ns, "live", "nobody.example.net/c")+
		fixture.ConfigMap(ns, "two", "nobody.example.net/d", "nobody.example.net/e"))
	fixture.Free(t, c, ns, "pod/p1", "pod/p2", "configmap/c1", "configmap/c2", "configmap/live", "configmap/two")
	deleted(t, c, "namespace", ns)
	deleted(t, c, "pod", "p1", "p2", "-n", ns)
	deleted(t, c, "configmap", "c1", "c2", "two", "-n", ns)
	d := examine(t, c.Config(), Options{}, ns, subject{"namespaces/" + ns, ""})
	wantCauses(t, d, map[string][]string{"Namespace/" + ns: {
		"FinalizerActorUnknown Pod/p1", "FinalizerActorUnknown Pod/p2",
		"FinalizerActorUnknown ConfigMap/c1", "FinalizerActorUnknown ConfigMap/c2", "FinalizerActorUnknown ConfigMap/two",
		"FinalizerActorUnknown ConfigMap/two",
		"FinalizerActorUnknown ConfigMap/live",
	}})
	for i, cause := range d.Stuck[0].Causes {
		if want := []int{0, 0, 1, 1, 1, 1, 2}[i]; cause.After != want {
			t.Errorf("%s %s comes up after %d others, want %d", cause.Code, cause.Object.Name, cause.After, want)
		}
	}
	wantEvidence(t, d.Stuck[0].Causes[6], "it is not being deleted yet")
	for i, want := range []bool{true, true, true, true, true, true, false} { // which unfinalize refuses
		removes := func(line string) bool { return strings.HasPrefix(line, "kubectl gc unfinalize") }
		if all := d.Stuck[0].Causes[i].Commands; slices.ContainsFunc(all, removes) != want {
			t.Errorf("%s: %q", d.Stuck[0].Causes[i].Object.Name, all)
		}
	}
}

// TestOwnerNamesWhatComesUpBelow: the collector has not deleted the dependent, and when it has, a
// finalizer keeps that, and another what it waits for.
func TestOwnerNamesWhatComesUpBelow(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "root"))
	owned(t, c, ns, "middle", "root", true, "nobody.example.net/m")
	owned(t, c, ns, "leaf", "middle", true, "nobody.example.net/l")
	fixture.Free(t, c, ns, "configmap/root", "configmap/middle", "configmap/leaf")
	deleted(t, c, "configmap", "root", "-n", ns, "--cascade=foreground")
	d := examine(t, c.Config(), Options{}, ns, subject{"configmaps/root", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/root": {
		"CollectorNotActing ConfigMap/middle", "FinalizerActorUnknown ConfigMap/middle",
		"FinalizerActorUnknown ConfigMap/leaf",
	}})
	if after := d.Stuck[0].Causes[1].After; after != 1 {
		t.Errorf("the finalizer comes up after %d others, want 1", after)
	}
}
