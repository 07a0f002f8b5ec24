package diagnose

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// permitted lets a user do something with all objects of some types.
func permitted(t testing.TB, c *testcluster.Cluster, user, verbs, resources string) {
	t.Helper()
	c.Kubectl(t, "create", "clusterrole", user, "--verb="+verbs, "--resource="+resources)
	c.Kubectl(t, "create", "clusterrolebinding", user, "--clusterrole="+user, "--user="+user)
	t.Cleanup(func() { c.Kubectl(t, "delete", "clusterrole,clusterrolebinding", user) })
}

// TestCureForbidden: who may look and not write is told the cause, and that the cure is for
// somebody else.
func TestCureForbidden(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "held", "nobody.example.net/x")+fixture.ConfigMap(ns, "live"))
	fixture.Free(t, c, ns, "configmap/held")
	deleted(t, c, "configmap", "held", "-n", ns)
	permitted(t, c, ns, "get,list,watch", "*.*")
	until(t, c, "yes", "auth", "can-i", "get", "configmaps", "-n", ns, "--as="+ns)
	d := examine(t, c.As(ns), Options{}, ns, subject{"configmaps/held", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/held": {"FinalizerActorUnknown ConfigMap/held",
		"CureForbidden ConfigMap/held"}})
	wantEvidence(t, d.Stuck[0].Causes[1], fmt.Sprintf("you may not patch configmaps in namespace %q", ns))
	if want := "kubectl auth can-i patch configmaps/held -n " + ns; d.Stuck[0].Causes[1].Commands[0] != want {
		t.Errorf("the command is %q, want %q", d.Stuck[0].Causes[1].Commands[0], want)
	}

	// What may not be done is said once of all finalizers and objects of the type.
	c.Apply(t, fixture.ConfigMap(ns, "other", "nobody.example.net/x", "nobody.example.net/y"))
	fixture.Free(t, c, ns, "configmap/other")
	deleted(t, c, "configmap", "other", "-n", ns)
	d = examine(t, c.As(ns), Options{}, ns, subject{"configmaps/other", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/other": {
		"FinalizerActorUnknown ConfigMap/other", "FinalizerActorUnknown ConfigMap/other", "CureForbidden ConfigMap/other",
	}})

	d = examine(t, c.As(ns), Options{}, ns, subject{"configmaps/live", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/live": {"NotDeleting ConfigMap/live"}})
	wantEvidence(t, d.Stuck[0].Causes[0], "you may not delete it")
	if live := d.Stuck[0].Causes[0]; live.Remedy != "" || len(live.Commands) > 0 {
		t.Errorf("nobody has asked how to delete it: %q, %q", live.Remedy, live.Commands)
	}
}
