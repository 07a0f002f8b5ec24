package diagnose

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestBlockerCanBeHidden_RO012: where a type cannot be listed, that no dependent is seen does not
// mean that there is none.
func TestBlockerCanBeHidden_RO012(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "owner"))
	fixture.Free(t, c, ns, "configmap/owner")
	deleted(t, c, "configmap", "owner", "-n", ns, "--cascade=foreground")
	proxy := faultproxy.Start(t, c.Config())
	for _, hidden := range []string{"/secrets", "/services"} {
		proxy.On(faultproxy.Path(hidden),
			faultproxy.Status(403, metav1.StatusReasonForbidden, "User \"u\" cannot list resource, at length"))
	}
	d := examine(t, proxy.Config(), Options{}, ns)
	wantCauses(t, d, map[string][]string{"ConfigMap/owner": {"BlockerHidden ConfigMap/owner"}})
	if said := d.Stuck[0].Causes[0].Evidence; len(said) != 1 || said[0] != "you may not list secrets and services in "+ns {
		t.Errorf("the evidence is %q, want it in one clause", said)
	}
}

// TestNoNamespaceIsFinalizedOfWhichNotAllMayBeListed: neither where nothing else is known, nor
// where its controller reports a failure.
func TestNoNamespaceIsFinalizedOfWhichNotAllMayBeListed(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	user := "limited-" + ns
	c.Kubectl(t, "create", "clusterrole", user, "--verb=get,list", "--resource=namespaces")
	c.Kubectl(t, "create", "clusterrolebinding", user, "--clusterrole="+user, "--user="+user)
	t.Cleanup(func() {
		c.Kubectl(t, "delete", "clusterrolebinding", user)
		c.Kubectl(t, "delete", "clusterrole", user)
	})
	until(t, c, "yes", "auth", "can-i", "list", "namespaces", "--as="+user)
	deleted(t, c, "namespace", ns)
	for _, want := range []string{"BlockerHidden", "NamespaceDeletionFailed"} {
		d := examine(t, c.As(user), Options{}, ns, subject{"namespaces/" + ns, ""})
		cause := d.Stuck[0].Causes[0]
		if lines := strings.Join(cause.Commands, "\n"); cause.Code != want || strings.Contains(lines, "unfinalize") {
			t.Errorf("%s, want %s: %s", cause.Code, want, lines)
		}
		c.Kubectl(t, "patch", "namespace", ns, "--subresource=status", "--type=merge", "-p",
			`{"status":{"conditions":[{"type":"NamespaceDeletionContentFailure","status":"True","reason":"ContentDeletionFailed","message":"the widgets would not go"}]}}`)
	}
}

// TestConditionThatNothingExplains_NS020: what the namespace controller reports is believed where
// nothing else is found.
func TestConditionThatNothingExplains_NS020(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	deleted(t, c, "namespace", ns)
	c.Kubectl(t, "patch", "namespace", ns, "--subresource=status", "--type=merge", "-p",
		`{"status":{"conditions":[{"type":"NamespaceDeletionContentFailure","status":"True","reason":"ContentDeletionFailed","message":"the widgets would not go"}]}}`)
	d := examine(t, c.Config(), Options{}, ns, subject{"namespaces/" + ns, ""})
	wantCauses(t, d, map[string][]string{"Namespace/" + ns: {"NamespaceDeletionFailed Namespace/" + ns}})
	wantEvidence(t, d.Stuck[0].Causes[0], "the widgets would not go")
}
