package rescue_test

import (
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/rescue"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// change changes the owner, which is being deleted.
func (s *scene) change() {
	s.c.Kubectl(s.t, "patch", "configmap", "owner", "-n", s.namespace, "--type=merge", "-p", `{"data":{"late":"change"}}`)
}

// late makes one more dependent of the owner.
func (s *scene) late() {
	s.dependent("ConfigMap", "late", s.reference("owner", "blockOwnerDeletion: true"))
	s.note("configmap/late")
}

// keptChange fails the test unless the owner was created again as it was changed, with its
// finalizer.
func (s *scene) keptChange() {
	s.t.Helper()
	owner := s.get("configmap/owner")
	data, _, _ := unstructured.NestedStringMap(owner.Object, "data")
	if data["late"] != "change" || len(owner.GetFinalizers()) != 1 {
		s.t.Errorf("the owner has the data %v and the finalizers %v", data, owner.GetFinalizers())
	}
	s.rescued()
}

// TestWhatIsChangedAfterItWasArchivedIsNotLost: in the same run, whenever that is before the object
// is freed; and after a run that was killed.
func TestWhatIsChangedAfterItWasArchivedIsNotLost(t *testing.T) {
	t.Parallel()
	t.Run("when the references are removed", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, testcluster.Shared(t), hold)
		s.delete("background")
		var once sync.Once
		out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{OnEvent: func(e plan.Event) {
			if e.Action.Verb == plan.VerbOrphan {
				once.Do(s.change)
			}
		}})
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		s.keptChange()
	})
	t.Run("right before the finalizer is removed", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, testcluster.Shared(t), hold)
		s.delete("background")
		proxy := faultproxy.Start(t, s.c.Config())
		var once sync.Once
		proxy.On(func(r *http.Request) bool { return isWrite(r) && strings.HasSuffix(r.URL.Path, "/configmaps/owner") },
			func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				once.Do(s.change)
				next.ServeHTTP(w, r)
			})
		if out := s.rescue(proxy.Kubeconfig(t), force, rescue.Options{}); out.Err != nil {
			t.Fatal(out.Err)
		}
		s.keptChange()
	})
	for _, n := range []int64{0, 2} {
		t.Run("after a run that was killed", func(t *testing.T) {
			t.Parallel()
			s := newScene(t, testcluster.Shared(t), hold)
			s.delete("background")
			if out := s.rescue(dies(t, s.c, n, false).Kubeconfig(t), force, rescue.Options{}); out.Err == nil {
				t.Fatal("it was not killed")
			}
			s.change()
			if out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{}); out.Err != nil {
				t.Fatal(out.Err)
			}
			s.keptChange()
		})
	}
}

// TestAReferenceThatIsChangedAfterItWasArchivedIsNotLost: its flags come back as they were in the
// end.
func TestAReferenceThatIsChangedAfterItWasArchivedIsNotLost(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	if out := s.rescue(dies(t, s.c, 0, false).Kubeconfig(t), force, rescue.Options{}); out.Err == nil {
		t.Fatal("it was not killed")
	}
	s.c.Kubectl(t, "patch", "secret", "b", "-n", s.namespace, "--type=json", "-p",
		`[{"op": "add", "path": "/metadata/ownerReferences/0/controller", "value": true}]`)
	if out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{}); out.Err != nil {
		t.Fatal(out.Err)
	}
	s.is("configmap/a", "other", "owner controller block")
	s.is("secret/b", "owner controller")
}

// TestWhatWentByItselfMayHaveBeenChanged since it was archived, which is said.
func TestWhatWentByItselfMayHaveBeenChanged(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	if out := s.rescue(dies(t, s.c, 2, false).Kubeconfig(t), force, rescue.Options{}); out.Err == nil {
		t.Fatal("it was not killed")
	}
	s.c.Kubectl(t, "patch", "configmap", "owner", "-n", s.namespace, "--type=merge", "-p",
		`{"metadata":{"finalizers":null}}`)
	out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{})
	if out.Err != nil || len(out.Skipped) != 1 || !strings.Contains(out.Skipped[0].Because, "is not restored") {
		t.Errorf("%v, %v", out.Err, out.Skipped)
	}
	s.rescued()
}

// TestADependentThatIsAddedBeforeTheObjectIsFreed lives on beside the collector, which runs:
// dependents are listed right before the object is freed, and not when the references were removed.
func TestADependentThatIsAddedBeforeTheObjectIsFreed(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	proxy := faultproxy.Start(t, s.c.Config())
	var released atomic.Int64
	var once sync.Once
	proxy.On(func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/configmaps/owner") && released.Load() == 2
	}, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		once.Do(s.late)
		next.ServeHTTP(w, r)
	})
	out := s.rescue(proxy.Kubeconfig(t), force, rescue.Options{OnEvent: func(e plan.Event) {
		if e.Action.Verb == plan.VerbOrphan {
			released.Add(1)
		}
	}})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	s.collected()
	s.rescued()
	s.is("configmap/late", "owner block")
}

// TestWhatHappensWhileAnOwnerOrphansIsNotLost: its last finalizer is the collector's, which is
// removed after more listings. Right before that the owner is changed, or gets a dependent.
func TestWhatHappensWhileAnOwnerOrphansIsNotLost(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "collector off", testcluster.NoControllers())
	for name, test := range map[string]struct{ happens, check func(*scene) }{
		"it is changed": {(*scene).change, func(s *scene) {
			if data, _, _ := unstructured.NestedStringMap(s.get("configmap/owner").Object, "data"); data["late"] != "change" {
				s.t.Errorf("the owner has the data %v", data)
			}
		}},
		"a dependent comes up": {(*scene).late, func(s *scene) { s.is("configmap/late", "owner block") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, c)
			s.delete("orphan")
			proxy := faultproxy.Start(t, c.Config())
			var released, reads atomic.Int64
			proxy.On(func(r *http.Request) bool {
				// Later than the look at what would be lost: the loop lists for itself.
				return released.Load() == 2 && r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/secrets") &&
					reads.Add(1) == 3
			}, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				next.ServeHTTP(w, r)
				test.happens(s)
			})
			out := s.rescue(proxy.Kubeconfig(t), force, rescue.Options{OnEvent: func(e plan.Event) {
				if e.Action.Verb == plan.VerbOrphan {
					released.Add(1)
				}
			}})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if reads.Load() < 3 {
				t.Fatalf("%d listings: it did not happen", reads.Load())
			}
			s.rescued()
			test.check(s)
		})
	}
}

// TestAnAnnotationIsNoProof that a rescue has created an object: a stranger's gets no dependents,
// in the run in which it comes up, nor in the next.
func TestAnAnnotationIsNoProof(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{OnEvent: func(e plan.Event) {
		if e.Action.Verb == plan.VerbRemoveFinalizer {
			s.c.Kubectl(t, "wait", "--for=delete", "configmap/owner", "-n", s.namespace)
			s.c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: `+s.namespace+
				`, annotations: {gc.kubectl.dev/restored-from: `+s.uids["configmap/owner"]+`}}}`)
		}
	}})
	if !answer.IsRefusal(out.Err) || !strings.Contains(out.Err.Error(), "and not by this rescue") {
		t.Errorf("%v", out.Err)
	}
	if _, _, err := s.plan(s.c.Kubeconfig(), force); !answer.IsRefusal(err) ||
		!strings.Contains(err.Error(), "and not by this rescue") {
		t.Errorf("a second run: %v", err)
	}
	s.is("configmap/a", "other")
	s.is("secret/b")
}

// TestWhatARescueHasCreatedIsKnownByItsUID, whatever has become of it before the next run goes on.
func TestWhatARescueHasCreatedIsKnownByItsUID(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	if out := s.rescue(dies(t, s.c, 4, false).Kubeconfig(t), force, rescue.Options{}); out.Err == nil {
		t.Fatal("it was not killed")
	}
	if info, err := os.Lstat(s.archive + ".created"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	s.change()
	if out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{}); out.Err != nil {
		t.Fatal(out.Err)
	}
	s.keptChange()
}
