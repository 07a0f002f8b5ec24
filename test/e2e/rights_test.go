package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestRightsAreAskedOnce: 200 config maps of a namespace take one review and, in a dry run, no
// other request that is not a read.
func TestRightsAreAskedOnce(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	var manifest strings.Builder
	for i := range 200 {
		fmt.Fprintf(&manifest, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm-%03d, namespace: %s}\n", i, ns)
	}
	c.Apply(t, manifest.String())
	proxy := faultproxy.Start(t, c.Config())
	got := run(t, "delete", "configmaps", "--all", "-n", ns, "--dry-run=client", "--kubeconfig", proxy.Kubeconfig(t))
	if got.code != 0 || !strings.Contains(got.stdout, "\ndeletes 200 objects of 1 kind in 1 wave\n") {
		t.Fatalf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	for _, r := range proxy.Requests() {
		if r.Method != http.MethodGet && !strings.HasSuffix(r.Path, "/selfsubjectaccessreviews") {
			t.Errorf("the dry run sent %s %s", r.Method, r.Path)
		}
	}
	if n := proxy.Count(http.MethodPost, "/selfsubjectaccessreviews"); n != 1 {
		t.Errorf("%d reviews, want 1", n)
	}
}

// TestForbiddenDeletesNothing: of several roots one type is forbidden, and not one delete is sent,
// with whatever flags.
func TestForbiddenDeletesNothing(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Kubectl(t, "create", "configmap", "mine", "-n", ns)
	c.Kubectl(t, "create", "secret", "generic", "not-mine", "-n", ns)
	user := "fay-" + ns
	c.Allow(t, ns, user, []string{"get", "list", "watch", "delete"}, []string{"configmaps"})
	c.Allow(t, ns, user, []string{"get", "list", "watch"}, []string{"secrets"})
	for _, policy := range []string{"background", "foreground", "orphan"} {
		proxy := faultproxy.Start(t, c.Config())
		got := run(t, "delete", "configmap/mine", "secret/not-mine", "-n", ns, "--yes", "--allow-incomplete",
			"--cascade="+policy,
			"--kubeconfig", proxy.Kubeconfig(t), "--as", user)
		want := fmt.Sprintf("error: nothing was deleted: you may not delete secrets in namespace %q\n", ns)
		if got.code != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: exit code %d\n%s%s", policy, got.code, got.stdout, got.stderr)
		}
		for _, r := range proxy.Requests() {
			if r.Method == http.MethodDelete {
				t.Errorf("%s: DELETE %s", policy, r.Path)
			}
		}
	}
}

// TestUnknownRightsAreNoRefusal: where reviews are not served the deletion goes on, and it is the
// server that refuses.
func TestUnknownRightsAreNoRefusal(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	for name, fault := range map[string]faultproxy.Fault{
		"forbidden": faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "no reviews"),
		"not-found": faultproxy.Plain(http.StatusNotFound, "404 page not found"),
		"failing":   faultproxy.Status(http.StatusInternalServerError, metav1.StatusReasonInternalError, "webhook"),
	} {
		c.Kubectl(t, "create", "configmap", name, "-n", ns)
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(faultproxy.Path("/selfsubjectaccessreviews"), fault)
		proxy.On(func(r *http.Request) bool { return r.Method == http.MethodDelete },
			faultproxy.Times(1, faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden,
				`configmaps "`+name+`" is forbidden`)))
		kubeconfig := proxy.Kubeconfig(t)
		got := run(t, "delete", "configmap", name, "-n", ns, "--yes", "--kubeconfig", kubeconfig)
		if got.code != 1 || !strings.Contains(got.stderr, "Error from server (Forbidden)") {
			t.Errorf("%s, refused by the server: exit code %d\n%s%s", name, got.code, got.stdout, got.stderr)
		}
		got = run(t, "delete", "configmap", name, "-n", ns, "--yes", "--kubeconfig", kubeconfig)
		if got.code != 0 || !strings.Contains(got.stdout, " deleted from ") {
			t.Errorf("%s, allowed by the server: exit code %d\n%s%s", name, got.code, got.stdout, got.stderr)
		}
	}
}
