package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// dangling are config maps with an owner that does not exist.
func dangling(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(
			&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: nobody, uid: 11111111-0000-4000-8000-000000000001}]}\n", name)
	}
	return b.String()
}

func numbered(format string, n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf(format, i))
	}
	return names
}

// countConfigMaps counts the config maps that have owners.
func countConfigMaps(t *testing.T, c *testcluster.Cluster, ns string) int {
	t.Helper()
	return strings.Count(c.Kubectl(t, "get", "configmaps", "-n", ns, "-o",
		`jsonpath={range .items[?(@.metadata.ownerReferences)]}{.metadata.name}{"\n"}{end}`), "\n")
}

// TestRunWithYesStopsWhenThePlanHasGrown: --yes agrees to the plan that is made then. Forty objects
// come up while it is performed; nothing happens to them, the exit code is 2 and they are named.
func TestRunWithYesStopsWhenThePlanHasGrown(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, dangling("old"), "-n", ns)
	proxy := faultproxy.Start(t, c.Config())
	var once sync.Once
	proxy.On(func(r *http.Request) bool { return r.Method == http.MethodDelete },
		func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			once.Do(func() { c.Apply(t, dangling(numbered("new%02d", 40)...), "-n", ns) })
			next.ServeHTTP(w, r)
		})
	got := run(t, "run", "-n", ns, "--yes", "--kubeconfig", proxy.Kubeconfig(t))
	if got.code != 2 || !strings.Contains(got.stderr,
		"stopped before pass 2: the plan has grown since it was agreed to: it deletes 40 more objects: ConfigMap/new00, ConfigMap/new01, ConfigMap/new02 and 37 more") {
		t.Errorf("exit code %d:\n%s", got.code, got.stderr)
	}
	if !strings.Contains(got.stdout, "deleted 1 object, in 1 pass") {
		t.Errorf("stdout:\n%s", got.stdout)
	}
	if n := countConfigMaps(t, c, ns); n != 40 {
		t.Errorf("%d are left of the 40 that nobody agreed to", n)
	}
}

// TestRunAsTheCollectorRefusesARestoredBackup: with --yes --watch what comes up is collected, but
// not what a backup has brought back; that is said, and the watch goes on.
func TestRunAsTheCollectorRefusesARestoredBackup(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	var manifest strings.Builder
	for i := range 20 {
		fmt.Fprintf(&manifest, "---\napiVersion: v1\nkind: Secret\nmetadata: {name: owner%02d}\n", i)
	}
	c.Apply(t, manifest.String(), "-n", ns)
	manifest.Reset()
	for i := range 20 {
		fmt.Fprintf(
			&manifest, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: restored%02d, ownerReferences: [{apiVersion: v1, kind: Secret, name: owner%02d, uid: 11111111-0000-4000-8000-0000000000%02d}]}\n", i, i, i)
	}
	c.Apply(t, dangling("first"), "-n", ns)
	r := startRun(t, "-n", ns, "--watch", "--kubeconfig", c.Kubeconfig())
	r.prints(&r.out, `configmap "first" deleted`)
	c.Apply(t, manifest.String(), "-n", ns)
	r.prints(&r.errOut, "Warning: nothing is collected while all ")
	c.Kubectl(t, "delete", "configmaps", "-n", ns, "--all")
	r.prints(&r.errOut, "collecting again")
	c.Apply(t, dangling("another"), "-n", ns)
	r.prints(&r.out, `configmap "another" deleted`)
	r.interrupt()
	r.ends(0)
	if n := strings.Count(r.errOut.String(), "Warning: nothing is collected while"); n != 1 {
		t.Errorf("it was said %d times:\n%s", n, r.errOut.String())
	}
	// of which there was no mass yet, on a slow machine
	if n := strings.Count(r.out.String(), `configmap "restored`); n > 2 {
		t.Errorf("%d of 20 were collected:\n%s", n, r.out.String())
	}
}
