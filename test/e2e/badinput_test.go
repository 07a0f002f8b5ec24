package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// withConfigMaps makes config maps in a namespace of its own, and a proxy in front of the server.
func withConfigMaps(t *testing.T, names ...string) (c *testcluster.Cluster, ns string, proxy *faultproxy.Proxy) {
	t.Helper()
	c = testcluster.Shared(t)
	ns = c.Namespace(t)
	for _, name := range names {
		c.Kubectl(t, "create", "configmap", name, "-n", ns)
	}
	return c, ns, faultproxy.Start(t, c.Config())
}

func uidOf(t *testing.T, c *testcluster.Cluster, ns, name string) string {
	t.Helper()
	return c.Kubectl(t, "get", "configmap", name, "-n", ns, "--ignore-not-found", "-o", "jsonpath={.metadata.uid}")
}

func deletes(r *http.Request) bool { return r.Method == http.MethodDelete }

// sent counts the deletes that were sent, by path.
func sent(proxy *faultproxy.Proxy) map[string]int {
	paths := map[string]int{}
	for _, r := range proxy.Requests() {
		if r.Method == http.MethodDelete {
			paths[r.Path]++
		}
	}
	return paths
}

// resultOf reads what -o json printed.
func resultOf(t *testing.T, r ran) v1alpha1.Result {
	t.Helper()
	var result v1alpha1.Result
	if err := json.Unmarshal([]byte(r.stdout), &result); err != nil || result.Kind != "Result" {
		t.Fatalf("%v in %q\n%s", err, r.stdout, r.stderr)
	}
	return result
}

// TestYesDoesNotCoverAGap: --yes confirms a plan, and one that may be larger than it says is
// another.
func TestYesDoesNotCoverAGap(t *testing.T) {
	t.Parallel()
	c, ns, proxy := withConfigMaps(t, "one")
	proxy.On(faultproxy.Path("/namespaces/"+ns+"/secrets"),
		faultproxy.Status(403, metav1.StatusReasonForbidden, "you may not"))
	r := run(t, "delete", "--kubeconfig", proxy.Kubeconfig(t), "configmap/one", "-n", ns, "--yes")
	if r.code != 2 || !strings.Contains(r.stderr,
		"error: nothing was deleted: types that may contain dependents could not be listed") ||
		!strings.Contains(r.stdout, "at least") {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if len(sent(proxy)) != 0 || uidOf(t, c, ns, "one") == "" {
		t.Errorf("deletes: %v", sent(proxy))
	}
	r = run(t, "delete", "--kubeconfig", proxy.Kubeconfig(t), "configmap/one", "-n", ns, "--yes", "--allow-incomplete")
	if r.code != 0 || uidOf(t, c, ns, "one") != "" {
		t.Errorf("with --allow-incomplete: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// TestRootVanishesMeanwhile: what is gone already when its turn comes is no error, and the others
// go.
func TestRootVanishesMeanwhile(t *testing.T) {
	t.Parallel()
	c, ns, proxy := withConfigMaps(t, "a", "b")
	proxy.On(func(r *http.Request) bool { return deletes(r) && strings.HasSuffix(r.URL.Path, "/a") },
		faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			c.Kubectl(t, "delete", "configmap", "a", "-n", ns)
			next.ServeHTTP(w, r)
		}))
	r := run(t, "delete", "--kubeconfig", proxy.Kubeconfig(t), "configmap/a", "configmap/b", "-n", ns, "--yes",
		"-o", "json")
	result := resultOf(t, r)
	if r.code != 0 || len(result.Done) != 1 || len(result.Skipped) != 1 || result.Skipped[0].Object.Name != "a" ||
		len(result.Failed)+len(result.Remaining) != 0 {
		t.Errorf("exit code %d, %+v\n%s", r.code, result, r.stderr)
	}
	if uidOf(t, c, ns, "b") != "" {
		t.Error("b is still there")
	}
}

// TestNameIsTakenMeanwhile_P02: an object that was created again under the name after the plan was
// made is not touched, and not waited for.
func TestNameIsTakenMeanwhile_P02(t *testing.T) {
	t.Parallel()
	c, ns, proxy := withConfigMaps(t, "one")
	planned := uidOf(t, c, ns, "one")
	proxy.On(deletes, faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		c.Kubectl(t, "delete", "configmap", "one", "-n", ns)
		c.Kubectl(t, "create", "configmap", "one", "-n", ns)
		next.ServeHTTP(w, r)
	}))
	r := run(t, "delete", "--kubeconfig", proxy.Kubeconfig(t), "configmap/one", "-n", ns, "--yes")
	if r.code != 0 || !strings.Contains(r.stderr,
		`Warning: configmap "one" in `+ns+` namespace was not deleted: another object has its name now`) {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if now := uidOf(t, c, ns, "one"); now == "" || now == planned {
		t.Errorf("the uid is %q, was %q", now, planned)
	}
	for path, n := range sent(proxy) {
		if n != 1 {
			t.Errorf("%d deletes of %s", n, path)
		}
	}
}

// TestServerDiesHalfwayThrough: the result has what was done and what was not, the exit code is 1,
// and nothing was sent twice.
func TestServerDiesHalfwayThrough(t *testing.T) {
	t.Parallel()
	c, ns, proxy := withConfigMaps(t, "a", "b", "c")
	proxy.On(func(r *http.Request) bool { return deletes(r) && !strings.HasSuffix(r.URL.Path, "/a") }, faultproxy.Reset())
	r := run(t, "delete", "--kubeconfig", proxy.Kubeconfig(t), "configmaps", "--all", "-n", ns, "--yes", "-o", "json")
	result := resultOf(t, r)
	if r.code != 1 || len(result.Done) != 1 || result.Done[0].Object.Name != "a" || len(result.Failed) != 2 ||
		len(result.Skipped)+len(result.Remaining) != 0 {
		t.Errorf("exit code %d, %+v\n%s", r.code, result, r.stderr)
	}
	if paths := sent(proxy); len(paths) != 3 {
		t.Errorf("deletes: %v", paths)
	}
	for path, n := range sent(proxy) {
		if n != 1 {
			t.Errorf("%d deletes of %s", n, path)
		}
	}
	if uidOf(t, c, ns, "a") != "" || uidOf(t, c, ns, "b") == "" || uidOf(t, c, ns, "c") == "" {
		t.Error("a is there, or b or c are not")
	}
}

// TestArchiveRefusesTheWholeDeletion: when the archive cannot be whole, no delete is sent, and
// there is no file. The exit code is 2 for an object that cannot be read, 1 for a file that cannot
// be written.
func TestArchiveRefusesTheWholeDeletion(t *testing.T) {
	t.Parallel()
	c, ns, proxy := withConfigMaps(t, "one", "two")
	c.Kubectl(t, "create", "secret", "generic", "key", "-n", ns, "--from-literal=password=swordfish")
	kubeconfig := proxy.Kubeconfig(t)
	for name, fault := range map[string]faultproxy.Fault{
		"Forbidden": faultproxy.Status(403, metav1.StatusReasonForbidden,
			`secrets "key" is forbidden: you may list and not get`),
		"InternalError": faultproxy.Status(500, metav1.StatusReasonInternalError, "etcd is full"),
	} {
		proxy.On(faultproxy.Path("/secrets/key"), fault)
		dir := t.TempDir()
		r := run(t, "delete", "--kubeconfig", kubeconfig, "configmap/one", "configmap/two", "secret/key", "-n", ns, "--yes",
			"--archive", filepath.Join(dir, "a.yaml"))
		want := "Error from server (" + name +
			"): nothing was deleted: the archive would be incomplete: reading secrets \"key\" in namespace \"" + ns + "\": "
		if r.code != 2 || !strings.Contains(r.stderr, want) || r.stdout != "" {
			t.Errorf("%s: exit code %d\n%s%s", name, r.code, r.stdout, r.stderr)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
			t.Errorf("%s: %v, %v", name, files, err)
		}
	}
	proxy.On(faultproxy.Path("/secrets/key"),
		func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) })

	dir := t.TempDir()
	file := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(file, []byte("older"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := run(t, "delete", "--kubeconfig", kubeconfig, "configmap/one", "-n", ns, "--yes", "--archive", file)
	if text, err := os.ReadFile(file); r.code != 1 ||
		!strings.Contains(r.stderr, "is never overwritten: name another file") || err != nil ||
		string(text) != "older" {
		t.Errorf("a file that exists: exit code %d, %q, %v\n%s", r.code, text, err, r.stderr)
	}
	if r := run(t, "delete", "--kubeconfig", kubeconfig, "configmap/one", "-n", ns, "--yes", "--archive",
		filepath.Join(unwritable(t), "a.yaml")); r.code != 1 ||
		!strings.Contains(r.stderr, "nothing was deleted: writing the archive: ") {
		t.Errorf("a folder that cannot be written to: exit code %d\n%s", r.code, r.stderr)
	}
	if len(sent(proxy)) != 0 || uidOf(t, c, ns, "one") == "" || uidOf(t, c, ns, "two") == "" {
		t.Errorf("deletes: %v", sent(proxy))
	}
}

// unwritable returns a folder in which this user cannot make files.
func unwritable(t *testing.T) string {
	t.Helper()
	if os.Geteuid() == 0 {
		return "/sys"
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestArchiveIsWrittenBeforeTheFirstDelete: at the first delete the file is there, whole, and what
// was gone by then is said not to be in it.
func TestArchiveIsWrittenBeforeTheFirstDelete(t *testing.T) {
	t.Parallel()
	c, ns, proxy := withConfigMaps(t, "a", "b", "vanished")
	file := filepath.Join(t.TempDir(), "a.yaml")
	var atFirst []byte
	proxy.On(deletes, faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		atFirst, _ = os.ReadFile(file)
		next.ServeHTTP(w, r)
	}))
	proxy.On(faultproxy.Path("/configmaps/vanished"),
		faultproxy.Times(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			c.Kubectl(t, "delete", "configmap", "vanished", "-n", ns)
			next.ServeHTTP(w, r)
		}))
	r := run(t, "delete", "--kubeconfig", proxy.Kubeconfig(t), "configmaps", "--all", "-n", ns, "--yes", "--archive", file)
	if r.code != 0 || !strings.Contains(r.stderr, "archived 2 objects in "+file+"\n") ||
		!strings.Contains(r.stderr, `Warning: configmap "vanished" in `+ns+
			` namespace is not in the archive: it no longer exists`) {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	after, err := os.ReadFile(file)
	if err != nil || string(after) != string(atFirst) || strings.Count(string(after), "\n---\n") != 2 {
		t.Errorf("%v; at the first delete:\n%s\nafterwards:\n%s", err, atFirst, after)
	}
}
