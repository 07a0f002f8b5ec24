package e2e

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// leftBehind is what a run has to do with every verb but unblock.
const leftBehind = `
apiVersion: v1
kind: ConfigMap
metadata: {name: gone, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: nobody, uid: 11111111-0000-4000-8000-000000000001}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: orphaning, finalizers: [orphan]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: waiting, finalizers: [foregroundDeletion]}
---
apiVersion: v1
kind: Secret
metadata: {name: chosen, labels: {app: chosen}, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: nobody, uid: 11111111-0000-4000-8000-000000000001}]}
`

// runThrough runs kubectl gc run through a proxy and returns what it prints.
func runThrough(t *testing.T, proxy *faultproxy.Proxy, args ...string) string {
	t.Helper()
	code, out, errOut := script.InProcess(context.WithoutCancel(t.Context()), "",
		append([]string{"run", "--kubeconfig", proxy.Kubeconfig(t)}, args...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errOut)
	}
	return out
}

func leaveBehind(t *testing.T, c *testcluster.Cluster) string {
	t.Helper()
	ns := c.Namespace(t)
	c.Apply(t, leftBehind, "-n", ns)
	c.Kubectl(t, "delete", "configmap", "orphaning", "-n", ns, "--cascade=orphan", "--wait=false")
	c.Kubectl(t, "delete", "configmap", "waiting", "-n", ns, "--cascade=foreground", "--wait=false")
	return ns
}

// TestDryRunOfARunWritesNothing_P09: the proxy sees reads only, nothing has another
// resourceVersion, and there is no event.
func TestDryRunOfARunWritesNothing_P09(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := leaveBehind(t, c)
	state := func() string {
		return c.Kubectl(t, "get", "configmaps,secrets,events", "-n", ns, "-o",
			"jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{\"\\n\"}{end}")
	}
	before := state()
	proxy := faultproxy.Start(t, c.Config())
	for _, args := range [][]string{{"--dry-run"}, {"--dry-run=client", "-o", "json"}, {"--dry-run", "-o", "name"},
		{"--dry-run", "--break-deadlocks", "-l", "app=chosen"}} {
		if out := runThrough(t, proxy, append(args, "-n", ns)...); !strings.Contains(out, "chosen") {
			t.Errorf("%v has no plan:\n%s", args, out)
		}
	}
	for _, r := range proxy.Requests() {
		if r.Method != http.MethodGet {
			t.Errorf("a dry run sent %s %s", r.Method, r.Path)
		}
	}
	if now := state(); now != before {
		t.Errorf("before:\n%s\nnow:\n%s", before, now)
	}
}

// TestFlagsOfARunContainWrites_P19: -n, --types and -l say what is written to.
func TestFlagsOfARunContainWrites_P19(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, other := leaveBehind(t, c), leaveBehind(t, c)
	for _, step := range []struct {
		args []string
		want []string // what is written to
	}{
		{[]string{"-l", "app=chosen"}, []string{"secrets/chosen"}},
		{[]string{"--types", "secrets"}, nil},
		{[]string{"--types", "configmaps"}, []string{"configmaps/gone", "configmaps/orphaning", "configmaps/waiting"}},
		{nil, nil},
	} {
		proxy := faultproxy.Start(t, c.Config())
		runThrough(t, proxy, append(step.args, "-n", ns, "--yes")...)
		var written []string
		for _, r := range proxy.Requests() {
			if r.Method != http.MethodGet {
				written = append(written, strings.TrimPrefix(r.Path, "/api/v1/namespaces/"+ns+"/"))
			}
		}
		slices.Sort(written)
		if written = slices.Compact(written); !slices.Equal(written, step.want) {
			t.Errorf("%v wrote to %v, want %v", step.args, written, step.want)
		}
	}
	if left := c.Kubectl(t, "get", "configmaps,secrets", "-n", other, "-o", "name"); strings.Count(left, "\n") != 4 {
		t.Errorf("of the other namespace is left\n%s", left)
	}
}
