package diagnose

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// waitingOwner makes an owner that waits for dependents, in the foreground.
func waitingOwner(t testing.TB, c *testcluster.Cluster, namespace string, dependents int) {
	t.Helper()
	c.Apply(t, fixture.ConfigMap(namespace, "root"))
	for i := range dependents {
		owned(t, c, namespace, fmt.Sprintf("d%02d", i), "root", true)
	}
	deleted(t, c, "configmap", "root", "-n", namespace, "--cascade=foreground")
}

// during is a pause in which something happens until it is seen.
func during(happens func(ctx context.Context)) func(context.Context, time.Time) error {
	return func(ctx context.Context, _ time.Time) error {
		happens(ctx)
		return ctx.Err()
	}
}

// TestCollectorAtWorkIsInProgress: between two readings it deletes dependents, and so nothing is
// stuck, however long ago the owner was deleted.
func TestCollectorAtWorkIsInProgress(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.NoControllers())
	ns := c.Namespace(t)
	waitingOwner(t, c, ns, 20)
	pause := during(func(context.Context) {
		c.StartControllers(t, testcluster.Collector)
		testcluster.Eventually(t, "a dependent is deleted", func(ctx context.Context) (bool, error) {
			out, err := c.Try(ctx, "", "get", "configmaps", "-n", ns, "-o", "name")
			return strings.Count(out, "/d") < 20, err
		})
	})
	d := examine(t, c.Config(), Options{limits: core.Limits{Pause: pause}}, ns, subject{"configmaps/root", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/root": {"InProgress ConfigMap/root"}})
	cause := d.Stuck[0].Causes[0]
	if !strings.HasPrefix(cause.Evidence[0], "deleted ") {
		t.Errorf("the evidence %q does not say since when", cause.Evidence)
	}
	if said := strings.Join(cause.Evidence, "; "); !strings.Contains(said, "of 20 dependents w") &&
		!strings.Contains(said, "no longer exists") {
		t.Errorf("the evidence %q does not say what was deleted", cause.Evidence)
	}
	gone(t, c, "configmap", "root", "-n", ns)
	c.StopControllers(t)

	// The controller of namespaces, which is not blamed either.
	c.Apply(t, fixture.ConfigMap(ns, "kept", "nobody.example.net/x")+fixture.ConfigMap(ns, "free"))
	fixture.Free(t, c, ns, "configmap/kept")
	deleted(t, c, "namespace", ns)
	pause = during(func(context.Context) {
		c.StartControllers(t, "namespace-controller")
		gone(t, c, "configmap", "free", "-n", ns)
	})
	d = examine(t, c.Config(), Options{limits: core.Limits{Pause: pause}}, ns, subject{"namespaces/" + ns, ""})
	wantCauses(t, d, map[string][]string{"Namespace/" +
		ns: {"InProgress Namespace/" + ns, "FinalizerActorUnknown ConfigMap/kept"}})
	wantEvidence(t, d.Stuck[0].Causes[0], "of 2 objects w")
}

// TestDeletedAMomentAgoIsInProgress: nobody is blamed for not having begun.
func TestDeletedAMomentAgoIsInProgress(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	waitingOwner(t, c, ns, 2)
	deleted(t, c, "namespace", ns)
	fixture.Free(t, c, ns, "configmap/root")
	young := Options{limits: core.Limits{Young: time.Hour}}
	d := examine(t, c.Config(), young, ns, subject{"configmaps/root", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/root": {"InProgress ConfigMap/root"}})
	wantEvidence(t, d.Stuck[0].Causes[0], " s, which means nothing so soon")
	wantRemedy(t, d.Stuck[0].Causes[0], "Wait a minute, and run the command again.")
	d = examine(t, c.Config(), Options{}, ns, subject{"configmaps/root", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/root": {"CollectorNotActing ConfigMap/d00",
		"CollectorNotActing ConfigMap/d01"}})
	wantEvidence(t, d.Stuck[0].Causes[0], "none of 2 dependents was deleted within ")
	wantEvidence(t, d.Stuck[0].Causes[0], " s ago: wait a minute before you act on this")

	empty := c.Namespace(t)
	deleted(t, c, "namespace", empty)
	d = examine(t, c.Config(), young, empty, subject{"namespaces/" + empty, ""})
	wantCauses(t, d, map[string][]string{"Namespace/" + empty: {"InProgress Namespace/" + empty}})
	d = examine(t, c.Config(), Options{}, empty, subject{"namespaces/" + empty, ""})
	wantCauses(t, d, map[string][]string{"Namespace/" + empty: {"NamespaceControllerNotActing Namespace/" + empty}})
}
