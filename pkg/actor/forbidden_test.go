package actor

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// workload reads a Deployment as it is.
func workload(t testing.TB, f *Finder, ns, name string) *unstructured.Unstructured {
	t.Helper()
	dt, _ := f.reader.Kind("apps/v1", "Deployment")
	o, err := f.reader.GetLive(t.Context(), dt, ns, name)
	if err != nil || o == nil {
		t.Fatalf("Deployment %s: %v", name, err)
	}
	return o
}

// TestActorThatMayNotWrite: the server itself says what the ServiceAccount of a living actor may
// not; whose rights are not those of its ServiceAccount, or who has one part that may, is not
// accused.
func TestActorThatMayNotWrite(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	runsAs(t, c, ns, "may", "may", 1)
	runsAs(t, c, ns, "may-not", "may-not", 1)
	runsAs(t, c, ns, "elsewhere", "may-not", 1, "args: ['--kubeconfig=/etc/remote']")
	runsAs(t, c, ns, "default", "''", 1)
	c.Kubectl(t, "create", "role", "op", "-n", ns, "--verb=update", "--resource=ingresses.networking.k8s.io")
	c.Kubectl(t, "create", "rolebinding", "op", "-n", ns, "--role=op", "--serviceaccount="+ns+":may")
	c.Kubectl(t, "create", "clusterrole", "ingress-op-"+ns, "--verb=get,patch", "--resource=ingresses.networking.k8s.io")
	t.Cleanup(func() { c.Kubectl(t, "delete", "clusterrole", "ingress-op-"+ns) })
	f := finderOf(t, c.Config(), fixture.Packs(t))
	o := objectNamed("networking.k8s.io/v1", "Ingress", ns, "it")
	of := func(f *Finder, names ...string) Forbidden {
		a := Actor{Life: Alive, Found: true}
		for _, name := range names {
			a.Workloads = append(a.Workloads, workload(t, finderOf(t, c.Config(), fixture.Packs(t)), ns, name))
		}
		return f.Forbidden(t.Context(), o, a)
	}
	got := of(f, "may-not")
	if !got.Concluded || got.Account.Name != "may-not" || got.Role != "ingress-op-"+ns {
		t.Errorf("%+v, want it forbidden, and the ClusterRole that would do", got)
	}
	want := fmt.Sprintf(
		"ServiceAccount %[1]s/may-not, which Deployment %[1]s/may-not uses, may neither patch nor update ingresses.networking.k8s.io in namespace %[1]s", ns)
	if len(got.Evidence) == 0 || got.Evidence[0].Says != want {
		t.Errorf("evidence %q, want %q", got.Evidence, want)
	}
	for _, names := range [][]string{{"may"}, {"may", "may-not"}, {"may-not", "elsewhere"}, {"default"}, nil} {
		if got := of(f, names...); got.Concluded || len(got.Evidence) > 0 {
			t.Errorf("%v: %+v, want nothing", names, got)
		}
	}

	// Who may not ask the server evaluates RBAC, and another authorizer may allow it all the same.
	user := "reader-" + ns
	c.Kubectl(t, "create", "clusterrolebinding", user, "--clusterrole=see-rbac-"+ns, "--user="+user)
	c.Kubectl(t, "create", "clusterrole", "see-rbac-"+ns, "--verb=list",
		"--resource=clusterroles.rbac.authorization.k8s.io,clusterrolebindings.rbac.authorization.k8s.io,roles.rbac.authorization.k8s.io,rolebindings.rbac.authorization.k8s.io")
	t.Cleanup(func() {
		c.Kubectl(t, "delete", "clusterrolebinding", user)
		c.Kubectl(t, "delete", "clusterrole", "see-rbac-"+ns)
	})
	limited := of(finderOf(t, c.As(user), fixture.Packs(t)), "may-not")
	if limited.Concluded || len(limited.Evidence) != 1 ||
		!strings.Contains(limited.Evidence[0].Says, "whether another authorizer does is not known") {
		t.Errorf("%+v, want no conclusion, and what RBAC says", limited)
	}
	if got := of(finderOf(t, c.As(user), fixture.Packs(t)), "may"); got.Concluded || len(got.Evidence) > 0 {
		t.Errorf("%+v, want nothing", got)
	}
	if got := of(finderOf(t, c.As("nobody"), fixture.Packs(t)), "may-not"); got.Concluded || len(got.Evidence) != 1 ||
		!strings.Contains(got.Evidence[0].Says, "/may-not may update or patch it is not known: you may not list clusterroles") {
		t.Errorf("%+v, want no conclusion, and why", got)
	}
}
