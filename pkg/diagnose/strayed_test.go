package diagnose

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// leftBehind makes config maps in a namespace and then has the namespace go without them: one that
// is being deleted, one that has a finalizer, and one that has none.
func leftBehind(t testing.TB, c *testcluster.Cluster) string {
	t.Helper()
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "deleted", "nobody.example.net/x")+
		fixture.ConfigMap(ns, "kept", "nobody.example.net/x")+fixture.ConfigMap(ns, "plain"))
	deleted(t, c, "configmap", "deleted", "-n", ns)
	deleted(t, c, "namespace", ns)
	finalize(t, c, ns)
	gone(t, c, "namespace", ns)
	fixture.Free(t, c, ns, "configmap/deleted", "configmap/kept")
	// before they are freed; it may exist
	t.Cleanup(func() { _, _ = c.Try(context.WithoutCancel(t.Context()), "", "create", "namespace", ns) })
	return ns
}

// minor is the minor version of the control plane.
func minor(t testing.TB, c *testcluster.Cluster) int {
	t.Helper()
	var info version.Info
	if err := json.Unmarshal([]byte(c.Kubectl(t, "get", "--raw", "/version")), &info); err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(info.Minor)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestNamespaceGone: what a namespace that does not exist has left behind is found, also what is
// not being deleted, and the printed commands cure it.
func TestNamespaceGone(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "strays", testcluster.NoControllers())
	ns := leftBehind(t, c)
	_, err := c.Try(t.Context(), "", "patch", "configmap", "deleted", "-n", ns, "--type=merge", "-p",
		`{"metadata":{"labels":{"a":"b"}}}`, "--dry-run=server")
	if changeable := minor(t, c) >= 37; (err == nil) != changeable {
		t.Fatalf("it can be changed: want %t, got %v", changeable, err)
	}
	d := examine(t, c.Config(), Options{}, ns)
	want := []string{"NamespaceGone Namespace/" + ns}
	wantCauses(t, d, map[string][]string{"ConfigMap/deleted": want, "ConfigMap/kept": want, "ConfigMap/plain": want})
	cause := stuckOf(t, d, "deleted").Causes[0]
	wantEvidence(t, cause, "namespace "+ns+" does not exist, and ConfigMap "+ns+"/deleted is still in it")
	wantRemedy(t, cause, "Create namespace "+ns+" again")
	if got, want := fmt.Sprint(cause.Commands),
		fmt.Sprintf(
			"[kubectl create namespace %s kubectl gc unfinalize configmaps/deleted -n %s --finalizer nobody.example.net/x --force kubectl delete namespaces/%s]", ns, ns, ns); got != want {
		t.Errorf("the commands are %s, want %s", got, want)
	}
	plain := stuckOf(t, d, "plain")
	if plain.Since != nil {
		t.Error("the object without a deletionTimestamp is being deleted")
	}
	typed(t, c, last(plain.Causes[0]))
	gone(t, c, "configmap", "plain", "-n", ns)

	typed(t, c, cause.Commands[0])
	c.Kubectl(t, "patch", "configmap", "deleted", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	gone(t, c, "configmap", "deleted", "-n", ns)
	d = examine(t, c.Config(), Options{}, ns)
	wantCauses(t, d, map[string][]string{})
	deleted(t, c, "namespace", ns)
}

// TestNamespaceGoneWherePoliciesAskForIt: a policy with a selector of namespaces refuses even the
// deletion, so that nobody is told to delete the object.
func TestNamespaceGoneWherePoliciesAskForIt(t *testing.T) {
	c := testcluster.Another(t, "strays", testcluster.NoControllers())
	ns, other := leftBehind(t, c), c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(other, "cm"))
	refusing(t, c, other, "DELETE", collectorUser, "delete", "configmap", "cm")
	if _, err := c.Try(t.Context(), "", "delete", "configmap", "plain", "-n", ns); err == nil {
		t.Fatal("it can be deleted")
	}
	d := examine(t, c.Config(), Options{}, ns, subject{"configmaps/plain", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/plain": {"NamespaceGone Namespace/" + ns}})
	if got := strings.Join(d.Stuck[0].Causes[0].Commands,
		"; "); got != fmt.Sprintf("kubectl create namespace %s; kubectl delete namespaces/%s", ns, ns) {
		t.Errorf("the commands are %s", got)
	}
}

// TestNamespaceGoneByName: asked by name, an object that is not being deleted gets the same answer.
func TestNamespaceGoneByName(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "strays", testcluster.NoControllers())
	ns := leftBehind(t, c)
	d := examine(t, c.Config(), Options{}, ns, subject{"configmaps/kept", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/kept": {"NamespaceGone Namespace/" + ns}})
	if got := strings.Join(d.Stuck[0].Causes[0].Commands,
		"; "); got != fmt.Sprintf("kubectl create namespace %s; kubectl delete namespaces/%s", ns, ns) {
		t.Errorf("the commands are %s", got)
	}
}

// TestNamespaceGoneIsNotSaidOfWhatCouldNotBeRead: where namespaces can be neither listed nor read,
// none is called absent.
func TestNamespaceGoneIsNotSaidOfWhatCouldNotBeRead(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "strays", testcluster.NoControllers())
	ns := leftBehind(t, c)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(func(r *http.Request) bool {
		return strings.HasPrefix(r.URL.Path, "/api/v1/namespaces") && !strings.Contains(r.URL.Path, "/configmaps")
	},
		faultproxy.Status(403, metav1.StatusReasonForbidden, "you may not"))
	d := examine(t, proxy.Config(), Options{}, ns)
	for _, s := range d.Stuck {
		if s.Since == nil {
			t.Errorf("%s is called stuck", s.Object.Name)
		}
		for _, cause := range s.Causes {
			if cause.Code == string(core.NamespaceGone) {
				t.Errorf("%s: %+v", s.Object.Name, cause)
			}
		}
	}
}
