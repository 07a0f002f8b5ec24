package rescue_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
	"github.com/kubectl-gc/kubectl-gc/pkg/rescue"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// untouched fails the test unless the owner is held and its dependents have their references, as
// before the rescue.
func (s *scene) untouched() {
	s.t.Helper()
	if now := s.get("configmap/owner"); string(now.GetUID()) != s.uids["configmap/owner"] ||
		!slices.Contains(now.GetFinalizers(), hold) {
		s.t.Errorf("the owner is %v", now.Object["metadata"])
	}
	s.is("configmap/a", "other", "owner controller block")
	s.is("secret/b", "owner")
}

// TestNotRescuedWhoseActorIsAlive_UntilForce: it cleans up outside meanwhile, and the plan says
// what that is about.
func TestNotRescuedWhoseActorIsAlive_UntilForce(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.known = fixture.Pack(t, hold, "leases: ["+s.namespace+"/operator]")
	s.c.Apply(t, fixture.Lease(s.namespace, "operator", "op-1", time.Now()))
	s.delete("background")
	_, p, err := s.plan(s.c.Kubeconfig(), unfinalize.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(p.Against(), func(r unfinalize.Refusal) bool { return r.Code == unfinalize.ActorAlive }) {
		t.Errorf("against it is %v", p.Against())
	}
	var text bytes.Buffer
	if err := render.RescuePlan(&text, p, render.Style{}); err != nil ||
		!strings.Contains(text.String(), "the Test operator removes it, and is running") ||
		!strings.Contains(text.String(), "the bucket leaks") {
		t.Errorf("%v; it does not say whose work outside the cluster is skipped:\n%s", err, text.String())
	}
	out := s.rescue(s.c.Kubeconfig(), unfinalize.Overrides{}, rescue.Options{})
	if !answer.IsRefusal(out.Err) || len(out.Done) > 0 {
		t.Errorf("%v, did %v", out.Err, out.Done)
	}
	if _, err := os.Stat(s.archive); err == nil {
		t.Error("it has written an archive")
	}
	s.untouched()
	if out := s.rescue(s.c.Kubeconfig(), force, rescue.Options{}); out.Err != nil {
		t.Fatal(out.Err)
	}
	s.rescued()
}

// TestAnArchiveOfAnotherClusterIsRefused: its uids say nothing here.
func TestAnArchiveOfAnotherClusterIsRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	if out := s.rescue(dies(t, s.c, 0, false).Kubeconfig(t), force, rescue.Options{}); out.Err == nil {
		t.Fatal("it has written through a proxy that takes no writes")
	}
	here := s.c.Kubectl(t, "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
	archived, err := os.ReadFile(s.archive)
	if err != nil || !bytes.Contains(archived, []byte(here)) {
		t.Fatalf("%v; the archive does not say of which cluster it is", err)
	}
	if err := os.WriteFile(s.archive,
		bytes.ReplaceAll(archived, []byte(here), []byte("00000000-0000-4000-8000-000000000000")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.plan(s.c.Kubeconfig(), force); !answer.IsRefusal(err) ||
		!strings.Contains(err.Error(), "an archive of another cluster") {
		t.Errorf("%v", err)
	}
	s.untouched()
}

// reader may read everything and change ConfigMaps, and nothing else.
const reader = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NS}
rules:
- {apiGroups: ['*'], resources: ['*'], verbs: [get, list, watch]}
- {apiGroups: [''], resources: [configmaps], verbs: [create, patch, delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NS}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: NS}]
`

// TestWithoutARightNothingIsWritten: not even to those dependents that the user may change.
func TestWithoutARightNothingIsWritten(t *testing.T) {
	t.Parallel()
	s := newScene(t, testcluster.Shared(t), hold)
	s.delete("background")
	s.c.Apply(t, strings.ReplaceAll(reader, "NS", s.namespace))
	t.Cleanup(func() { s.c.Kubectl(t, "delete", "clusterrole/"+s.namespace, "clusterrolebinding/"+s.namespace) })
	testcluster.Eventually(t, "the user may change ConfigMaps", func(ctx context.Context) (bool, error) {
		return s.c.Command(ctx, "auth", "can-i", "patch", "configmaps", "--as", s.namespace, "-n",
			s.namespace).Run() == nil, nil
	})
	proxy := faultproxy.Start(t, s.c.As(s.namespace))
	out := s.rescue(proxy.Kubeconfig(t), force, rescue.Options{})
	if !answer.IsRefusal(out.Err) || !strings.Contains(out.Err.Error(), "you may not patch secrets in namespace") ||
		len(out.Done) > 0 {
		t.Errorf("%v, did %v", out.Err, out.Done)
	}
	for _, r := range proxy.Requests() {
		if r.Method != http.MethodGet && !strings.HasSuffix(r.Path, "accessreviews") && !r.Query.Has("dryRun") {
			t.Errorf("it has sent %s %s", r.Method, r.Path)
		}
	}
	if _, err := os.Stat(s.archive); err == nil {
		t.Error("it has written an archive")
	}
	s.untouched()
}

// lists matches the requests that list the Secrets of a namespace.
func lists(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/secrets")
}

// TestADependentThatCannotBeSeenIsNotLost: what cannot be listed can hide a dependent, which would
// be deleted with the object, and no flag makes that right.
func TestADependentThatCannotBeSeenIsNotLost(t *testing.T) {
	t.Parallel()
	forbidden := faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "secrets are secret")
	t.Run("in the plan", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, testcluster.Shared(t), hold)
		s.delete("background")
		proxy := faultproxy.Start(t, s.c.Config())
		proxy.On(lists, forbidden)
		out := s.rescue(proxy.Kubeconfig(t), force, rescue.Options{})
		if !answer.IsRefusal(out.Err) || !strings.Contains(out.Err.Error(), "could not be listed") || len(out.Done) > 0 ||
			len(out.Planned.Gaps) != 1 {
			t.Errorf("%v, did %v, gaps %v", out.Err, out.Done, out.Planned.Gaps)
		}
		s.untouched()
	})
	t.Run("when the references are removed", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, testcluster.Shared(t), hold)
		s.delete("background")
		proxy := faultproxy.Start(t, s.c.Config())
		out := s.rescue(proxy.Kubeconfig(t), force, rescue.Options{OnEvent: func(e plan.Event) {
			if e.Action.Verb == plan.VerbOrphan {
				proxy.On(lists, forbidden)
			}
		}})
		if !answer.IsRefusal(out.Err) || !strings.Contains(out.Err.Error(), "was not freed") {
			t.Errorf("%v", out.Err)
		}
		s.collected()
		if now := s.get("configmap/owner"); string(now.GetUID()) != s.uids["configmap/owner"] {
			t.Error("the owner was freed")
		}
		if again := s.rescue(s.c.Kubeconfig(), force, rescue.Options{}); again.Err != nil {
			t.Fatal(again.Err)
		}
		s.rescued()
	})
}
