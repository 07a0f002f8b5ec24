package rescue_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/rescue"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestADependentThatComesUpLaterIsSavedToo: it is archived before it loses its reference, and gets
// it back.
func TestADependentThatComesUpLaterIsSavedToo(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	var once sync.Once
	out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{OnEvent: func(e plan.Event) {
		if e.Action.Verb == plan.VerbOrphan {
			once.Do(s.late)
		}
	}})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	s.collected()
	s.rescued()
	s.is("configmap/late", "owner block")
	if _, err := os.Stat(strings.TrimSuffix(s.archive, ".yaml") + ".2.yaml"); err != nil {
		t.Error(err)
	}
}

// TestADependentThatComesUpWhenTheObjectIsGoneGetsTheNewUID: its reference is changed in one write.
func TestADependentThatComesUpWhenTheObjectIsGoneGetsTheNewUID(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "collector off", testcluster.NoControllers())
	s := newScene(t, c, hold)
	s.delete("background")
	out := s.rescue(c.Kubeconfig(), force, rescue.Options{OnEvent: func(e plan.Event) {
		if e.Action.Verb == plan.VerbRemoveFinalizer {
			s.dependent("ConfigMap", "late", s.reference("owner", ""))
			s.note("configmap/late")
		}
	}})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	s.rescued()
	s.is("configmap/late", "owner")
}

// TestAnotherClientIsFirst: its object is not given the dependents of another one, which live on.
func TestAnotherClientIsFirst(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{OnEvent: func(e plan.Event) {
		if e.Action.Verb == plan.VerbRemoveFinalizer {
			s.c.Kubectl(t, "wait", "--for=delete", "configmap/owner", "-n", s.namespace)
			s.c.Kubectl(t, "create", "configmap", "owner", "-n", s.namespace, "--from-literal=of=another")
		}
	}})
	if !answer.IsRefusal(out.Err) || !strings.Contains(out.Err.Error(), "and not by this rescue") ||
		!strings.Contains(answer.Hint(out.Err), "kubectl gc adopt") {
		t.Errorf("%v, %s", out.Err, answer.Hint(out.Err))
	}
	s.collected()
	s.is("configmap/a", "other")
	s.is("secret/b")
}

// TestADependentWithAnotherControllerKeepsIt: it may have one only, and the command says which.
func TestADependentWithAnotherControllerKeepsIt(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{OnEvent: func(e plan.Event) {
		if e.Action.Verb == restore.Create {
			s.c.Kubectl(t, "patch", "configmap", "a", "-n", s.namespace, "--type=json", "-p",
				`[{"op": "add", "path": "/metadata/ownerReferences/0/controller", "value": true}]`)
		}
	}})
	if !answer.IsRefusal(out.Err) ||
		!strings.Contains(out.Err.Error(), "it has another controller by now: ConfigMap/other") || len(out.Skipped) != 1 ||
		out.Skipped[0].Object.Name != "a" {
		t.Errorf("%v, skipped %v", out.Err, out.Skipped)
	}
	s.is("configmap/a", "other controller")
	s.is("secret/b", "owner")
}

// TestADependentThatIsDeletedMeanwhileIsNotAnAdoptedOne: its references were to come back, and did
// not.
func TestADependentThatIsDeletedMeanwhileIsNotAnAdoptedOne(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{OnEvent: func(e plan.Event) {
		if e.Action.Verb == restore.Create {
			s.c.Kubectl(t, "delete", "secret", "b", "-n", s.namespace)
		}
	}})
	if !answer.IsRefusal(out.Err) || !strings.Contains(out.Err.Error(), "it no longer exists") {
		t.Errorf("%v, skipped %v", out.Err, out.Skipped)
	}
	s.is("configmap/a", "other", "owner controller block")
	if again := s.rescue(s.c.Kubeconfig(), force, rescue.Options{}); again.Err != nil || len(again.Done) > 0 {
		t.Errorf("a second run: %v, did %v", again.Err, again.Done)
	}
}

// TestAReferenceThatSomethingPutsBack: the object is not freed as long as a dependent has one.
func TestAReferenceThatSomethingPutsBack(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{OnEvent: func(e plan.Event) {
		if e.Action.Verb == plan.VerbOrphan && e.Action.Object.Name == "b" {
			s.c.Kubectl(t, "patch", "secret", "b", "-n", s.namespace, "--type=merge", "--field-manager=stubborn", "-p",
				`{"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "`+
					s.uids["configmap/owner"]+`"}]}}`)
		}
	}})
	if !answer.IsRefusal(out.Err) || !strings.Contains(out.Err.Error(), "was put back") ||
		!strings.Contains(out.Err.Error(), "was not freed") {
		t.Errorf("%v", out.Err)
	}
	if now := s.get("configmap/owner"); string(now.GetUID()) != s.uids["configmap/owner"] ||
		len(now.GetFinalizers()) != 1 {
		t.Errorf("the owner is %v", now.Object["metadata"])
	}
	if again := s.rescue(s.c.Kubeconfig(), force, rescue.Options{}); again.Err != nil {
		t.Fatal(again.Err)
	}
	s.collected()
	s.rescued()
}
