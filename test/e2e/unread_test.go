package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// requestTo matches the requests of a method to an object.
func requestTo(method, path string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method && strings.HasSuffix(r.URL.Path, path) }
}

func tellsUnread(t *testing.T, name string, got ran, complete bool, gaps []v1alpha1.Gap, what string) {
	t.Helper()
	// what an object names is not known either if it cannot be read
	gaps = slices.DeleteFunc(gaps, func(g v1alpha1.Gap) bool { return g.Links })
	if got.code != 2 || complete || len(gaps) != 1 || !strings.HasPrefix(gaps[0].Message, what) ||
		!strings.Contains(got.stderr, "error: incomplete: "+what) {
		t.Errorf("%s: exit code %d, complete %v, gaps %v, stderr:\n%s", name, got.code, complete, gaps, got.stderr)
	}
}

// TestRunTellsOfAnOwnerThatCannotBeRead: what depends on it is kept, and neither the plan nor the
// result is complete.
func TestRunTellsOfAnOwnerThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, dangling("lost"), "-n", ns)
	for name, fault := range map[string]faultproxy.Fault{
		"404": faultproxy.Plain(http.StatusNotFound, "404 page not found\n"),
		"502": faultproxy.Plain(http.StatusBadGateway, "bad gateway"),
	} {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(requestTo(http.MethodGet, "/configmaps/nobody"), fault)
		kubeconfig := proxy.Kubeconfig(t)
		got := run(t, "run", "-n", ns, "--yes", "-o", "json", "--kubeconfig", kubeconfig)
		result := resultOf(t, got)
		tellsUnread(t, name+", run", got, result.Complete, result.Gaps, `reading configmaps "nobody": `)
		got = run(t, "run", "-n", ns, "--dry-run", "-o", "json", "--kubeconfig", kubeconfig)
		var planned v1alpha1.Plan
		if err := json.Unmarshal([]byte(got.stdout), &planned); err != nil {
			t.Fatal(err)
		}
		tellsUnread(t, name+", run --dry-run", got, planned.Complete, planned.Gaps, `reading configmaps "nobody": `)
		if got = run(t, "run", "-n", ns, "--yes", "--kubeconfig", kubeconfig); got.code != 2 ||
			got.stdout != "nothing to collect among the objects that could be read\n" {
			t.Errorf("%s: exit code %d\n%s%s", name, got.code, got.stdout, got.stderr)
		}
	}
	if n := countConfigMaps(t, c, ns); n != 1 {
		t.Errorf("%d config maps are left of 1", n)
	}
}

// TestRunTellsOfADeleteThatA404Refused each time, though the object is there.
func TestRunTellsOfADeleteThatA404Refused(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, dangling("lost"), "-n", ns)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(requestTo(http.MethodDelete, "/configmaps/lost"),
		faultproxy.Plain(http.StatusNotFound, "404 page not found\n"))
	got := run(t, "run", "-n", ns, "--yes", "-o", "json", "--kubeconfig", proxy.Kubeconfig(t))
	result := resultOf(t, got)
	if got.code != 1 || len(result.Failed) == 0 || result.Failed[0].Action.Object.Name != "lost" ||
		!strings.Contains(got.stderr, `configmaps "lost" is still there`) {
		t.Errorf("exit code %d, failed %v, stderr:\n%s", got.code, result.Failed, got.stderr)
	}
}

// rootAndShared makes a root and what stays when it is deleted, because it has another owner.
func rootAndShared(t *testing.T, c *testcluster.Cluster, ns string) {
	t.Helper()
	c.Apply(t, configMap("root", "")+configMap("other", ""), "-n", ns)
	root, other := uidOf(t, c, ns, "root"), uidOf(t, c, ns, "other")
	c.Apply(t, configMap("shared",
		`, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: root, uid: `+root+
			`}, {apiVersion: v1, kind: ConfigMap, name: other, uid: `+other+`}]`), "-n", ns)
}

// TestDeleteTellsOfAReferenceThatCouldNotBeRemoved by --gc=client: what was to be deleted is gone,
// and that is not all of the plan.
func TestDeleteTellsOfAReferenceThatCouldNotBeRemoved(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	rootAndShared(t, c, ns)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(requestTo(http.MethodPatch, "/configmaps/shared"),
		faultproxy.Plain(http.StatusNotFound, "404 page not found\n"))
	got := run(t, "delete", "configmap/root", "-n", ns, "--gc=client", "--yes", "--timeout=2m", "-o", "json",
		"--kubeconfig", proxy.Kubeconfig(t))
	result := resultOf(t, got)
	if got.code != 1 || len(result.Failed) == 0 || result.Failed[0].Action.Object.Name != "shared" ||
		!strings.Contains(got.stderr, `configmaps "shared" is still there`) {
		t.Errorf("exit code %d, failed %v, stderr:\n%s", got.code, result.Failed, got.stderr)
	}
}

// TestDeleteTellsOfAnOwnerThatCannotBeRead by --gc=client, so that its dependents are kept.
func TestDeleteTellsOfAnOwnerThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	rootAndShared(t, c, ns)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(requestTo(http.MethodGet, "/configmaps/root"), faultproxy.Plain(http.StatusBadGateway, "bad gateway"))
	got := run(t, "delete", "configmap/root", "-n", ns, "--gc=client", "--yes", "--timeout=2m", "-o", "json",
		"--kubeconfig", proxy.Kubeconfig(t))
	if owners := c.Kubectl(t, "get", "configmap", "shared", "-n", ns, "-o",
		"jsonpath={.metadata.ownerReferences[*].name}"); owners != "root other" {
		t.Fatalf("the owners of what stays are %q", owners)
	}
	result := resultOf(t, got)
	tellsUnread(t, "delete", got, result.Complete, result.Gaps, `reading configmaps "root": `)
}

// TestDeleteTellsOfAReferenceThatWasNotRemovedInTime by --gc=client: all is gone that was to go,
// and the time is up before the server has answered.
func TestDeleteTellsOfAReferenceThatWasNotRemovedInTime(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	rootAndShared(t, c, ns)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(requestTo(http.MethodPatch, "/configmaps/shared"), faultproxy.Hang())
	got := run(t, "delete", "configmap/root", "-n", ns, "--gc=client", "--yes", "--timeout=8s", "-o", "json",
		"--kubeconfig", proxy.Kubeconfig(t))
	if got.code != 2 || !strings.Contains(got.stderr, "timed out after 8s") {
		t.Errorf("exit code %d, stderr:\n%s", got.code, got.stderr)
	}
}
