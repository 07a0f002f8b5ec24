package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const stuckObjects = `
apiVersion: v1
kind: ConfigMap
metadata: {name: held, labels: {app: web}, finalizers: [example.com/hold]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: foreground, finalizers: [example.com/hold]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: orphaning}
---
apiVersion: v1
kind: Secret
metadata: {name: dependent}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: live, finalizers: [example.com/hold]}
`

// makeStuck makes objects of which each waits for something else, and a namespace that nobody
// empties; it returns the names of both namespaces.
func makeStuck(t *testing.T, c *testcluster.Cluster) (ns, terminating string) {
	t.Helper()
	ns, terminating = c.Namespace(t), c.Namespace(t)
	c.Apply(t, stuckObjects, "-n", ns)
	uid := c.Kubectl(t, "get", "configmap", "orphaning", "-n", ns, "-o", "jsonpath={.metadata.uid}")
	c.Kubectl(t, "patch", "secret", "dependent", "-n", ns, "--type=merge", "-p",
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"orphaning","uid":"`+uid+`"}]}}`)
	for name, policy := range map[string]string{"held": "background", "foreground": "foreground", "orphaning": "orphan"} {
		c.Kubectl(t, "delete", "configmap", name, "-n", ns, "--wait=false", "--cascade="+policy)
	}
	c.Kubectl(t, "delete", "namespace", terminating, "--wait=false")
	t.Cleanup(func() {
		c.Kubectl(t, "patch", "configmaps", "held", "foreground", "orphaning", "live", "-n", ns, "--type=merge", "-p",
			`{"metadata":{"finalizers":null}}`)
	})
	return ns, terminating
}

// dryWrites counts the writes of a command, all of which have to be with dryRun=All.
func dryWrites(t *testing.T, command string, requests []faultproxy.Request) int {
	t.Helper()
	writes := 0
	for _, r := range requests {
		var body metav1.DeleteOptions
		_ = json.Unmarshal(r.Body, &body)
		switch {
		case r.Method == http.MethodGet, strings.HasSuffix(r.Path, "/selfsubjectaccessreviews"):
		case slices.Equal(r.Query["dryRun"], []string{metav1.DryRunAll}), r.Method == http.MethodDelete &&
			slices.Equal(body.DryRun, []string{metav1.DryRunAll}):
			writes++
		default:
			t.Errorf("%s: %s %s with %s", command, r.Method, r.Path, r.Body)
		}
	}
	return writes
}

// TestNoDryRunOfUnfinalizeWritesAnything_P09: with =client there are no dry writes either; with
// =server, and before it asks, the first write to each object. Nothing has another resourceVersion
// afterwards.
func TestNoDryRunOfUnfinalizeWritesAnything_P09(t *testing.T) {
	// It takes more than 10 s: each form of the command runs once, against objects of its own.
	t.Parallel()
	c := testcluster.Shared(t)
	ns, terminating := makeStuck(t, c)
	state := func() string {
		const each = `{.metadata.name} {.metadata.resourceVersion}{"\n"}`
		return c.Kubectl(t, "get", "configmaps,secrets", "-n", ns, "-o", "jsonpath={range .items[*]}"+each+"{end}") +
			c.Kubectl(t, "get", "namespace", terminating, "-o", "jsonpath={.metadata.resourceVersion}{.spec}")
	}
	was := state()
	proxy := faultproxy.Start(t, c.Config())
	kubeconfig := proxy.Kubeconfig(t)
	seen := 0
	check := func(code, writes int, typed string, args ...string) {
		t.Helper()
		command := strings.Join(args, " ")
		got := runTyping(t, typed, append([]string{"unfinalize", "-n", ns, "--kubeconfig", kubeconfig}, args...)...)
		requests := proxy.Requests()
		n := dryWrites(t, command, requests[seen:])
		seen = len(requests)
		if got.code != code || n != writes {
			t.Errorf("%s: exit code %d and %d dry writes, want %d and %d\n%s%s", command, got.code, n, code, writes, got.stdout,
				got.stderr)
		}
	}
	for i, meant := range []struct {
		args   []string
		writes int // that a dry run on the server sends
	}{
		{[]string{"configmap/held", "--finalizer", "example.com/hold"}, 1},
		{[]string{"configmap/held", "configmap/foreground", "--finalizer", "example.com/hold"}, 2},
		{[]string{"configmap/foreground", "--finalizer", "foregroundDeletion"}, 1},
		{[]string{"configmap/foreground", "--finalizer", "foregroundDeletion", "--finalizer", "example.com/hold"}, 1},
		{[]string{"configmap/orphaning", "--finalizer", "orphan"}, 2},
		{[]string{"configmap/live", "--finalizer", "example.com/hold", "--force-live"}, 1},
		{[]string{"configmaps", "-l", "app=web", "--finalizer", "example.com/hold"}, 1},
		{[]string{"--all-stuck", "--finalizer", "example.com/hold"}, 2},
		{[]string{"--tree", "configmap/foreground", "--finalizer", "example.com/hold"}, 1},
		{[]string{"namespace/" + terminating, "--finalizer", "kubernetes"}, 1},
	} {
		formats := []string{"", "json", "name", "wide"}
		if i > 0 {
			formats = formats[i%4 : i%4+1] // how it is printed has nothing to do with what is meant
		}
		for _, format := range formats {
			args := append(slices.Clone(meant.args), "--force", "-o", format)
			check(0, 0, "", append(args, "--dry-run")...)
			check(0, meant.writes, "", append(args, "--dry-run=server", "--yes")...)
			check(2, meant.writes, "y\n", args...) // which nobody has confirmed on a terminal
		}
	}
	// What is refused is not even tried.
	check(2, 0, "", "configmap/live", "--finalizer", "example.com/hold", "--yes")
	check(2, 0, "", "configmap/held", "--finalizer", "example.com/hold", "--yes")
	check(2, 0, "", "configmap/held", "configmap/live", "--finalizer", "example.com/none", "--yes")
	check(2, 0, "", "configmap/held")
	check(1, 0, "", "configmap/none", "--finalizer", "example.com/hold", "--yes")
	if now := state(); now != was {
		t.Errorf("before:\n%s\nafter:\n%s", was, now)
	}
}

// TestUnfinalizeNamesWhatCouldNotBeListed: the gap because of which something is refused, or needs --force,
// is in the Plan and in the Result, which are not complete, although the objects that were named
// were all found.
func TestUnfinalizeNamesWhatCouldNotBeListed(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, terminating := makeStuck(t, c)
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(faultproxy.Path("/secrets"),
		faultproxy.Status(http.StatusForbidden, metav1.StatusReasonForbidden, "you may not"))
	for _, test := range []struct {
		args string
		code int
	}{
		{"configmap/orphaning --finalizer orphan --dry-run=client", 2},
		{"namespace/" + terminating + " --finalizer kubernetes --dry-run=client", 2},
		{"namespace/" + terminating + " --finalizer kubernetes --yes --force", 0},
	} {
		r := run(t, append([]string{"unfinalize", "-n", ns, "--kubeconfig", proxy.Kubeconfig(t), "-o", "json"},
			strings.Fields(test.args)...)...)
		var out struct { // a Plan or a Result
			Complete bool
			Gaps     []v1alpha1.Gap
		}
		if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || r.code != test.code || out.Complete ||
			len(out.Gaps) != 1 || out.Gaps[0].Resource != "secrets" {
			t.Errorf("%s: %v, exit code %d, complete %t, gaps %v\n%s", test.args, err, r.code, out.Complete, out.Gaps, r.stderr)
		}
	}
}
