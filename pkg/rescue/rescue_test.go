package rescue_test

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/rescue"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestRescuedWithItsDependents: with the cluster's collector at work, the dependents are the same
// objects in the end.
func TestRescuedWithItsDependents(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	s.collected()
	s.rescued()
	if got := s.get("configmap/owner").GetFinalizers(); len(got) != 1 || got[0] != hold {
		t.Errorf("the finalizers are %v", got)
	}
}

// TestNotRescuedWhoseActorIsUnknown_UntilForce: as kubectl gc unfinalize, it does not remove what
// somebody may still work on.
func TestNotRescuedWhoseActorIsUnknown_UntilForce(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	out := s.rescue(s.c.Kubeconfig(), unfinalize.Overrides{}, rescue.Options{})
	if !answer.IsRefusal(out.Err) || !strings.Contains(out.Err.Error(), "not known") || len(out.Done) > 0 {
		t.Errorf("%v, done %v", out.Err, out.Done)
	}
	s.is("secret/b", "owner")
	if out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{}); out.Err != nil {
		t.Fatal(out.Err)
	}
	s.rescued()
}

// TestRescuedFromAForegroundDeletion: a deletion in the foreground that is under way ends for those
// that are not deleted yet, and the others are named.
func TestRescuedFromAForegroundDeletion(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "collector off", testcluster.NoControllers())
	s := newScene(t, c, hold)
	s.dependent("ConfigMap", "late", s.reference("owner", ""))
	c.Kubectl(t, "patch", "configmap", "late", "-n", s.namespace, "--type=merge", "-p",
		`{"metadata":{"finalizers":["`+hold+`"]}}`)
	c.Kubectl(t, "delete", "configmap", "late", "-n", s.namespace, "--wait=false")
	s.delete("foreground")
	out := s.rescue(c.Kubeconfig(), force, rescue.Options{})
	c.Kubectl(t, "patch", "configmap", "late", "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if lost := out.Planned.Lost; len(lost) != 1 || lost[0].Name != "late" {
		t.Errorf("lost are %v", lost)
	}
	s.rescued()
}

// TestRescuedFromAnOrphaningDeletion: the collector, which is alive, does nothing outside the
// cluster, so that its finalizer needs no --force.
func TestRescuedFromAnOrphaningDeletion(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "collector off", testcluster.NoControllers())
	s := newScene(t, c)
	s.delete("orphan")
	if out := s.rescue(c.Kubeconfig(), unfinalize.Overrides{}, rescue.Options{}); out.Err != nil {
		t.Fatal(out.Err)
	}
	s.rescued()
}

// TestNotRescuedThatIsNotBeingDeleted: nothing is done to an object that is alive, and one that
// does not exist cannot be created from nothing.
func TestNotRescuedThatIsNotBeingDeleted(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t))
	if _, _, err := s.plan(s.c.Kubeconfig(), force); !answer.IsRefusal(err) ||
		!strings.Contains(err.Error(), "is not being deleted") {
		t.Errorf("%v", err)
	}
	s.c.Kubectl(t, "delete", "configmap", "owner", "-n", s.namespace, "--cascade=orphan")
	if _, _, err := s.plan(s.c.Kubeconfig(), force); !answer.IsRefusal(err) ||
		!strings.Contains(err.Error(), "there is no archive") {
		t.Errorf("%v", err)
	}
}
