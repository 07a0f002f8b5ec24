package e2e

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestEveryRequestIsSentAsWhoIsNamed: with --as each command sends all of its requests in that
// name: discovery, lists, live reads, reviews, watches, dry runs and writes. None is sent with the
// rights of whoever runs it, nor in the name of a ServiceAccount that this one could impersonate.
func TestEveryRequestIsSentAsWhoIsNamed(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	namespace, proxy := c.Namespace(t), faultproxy.Start(t, c.Config())
	const absent = "{apiVersion: v1, kind: ConfigMap, name: nobody, uid: 11111111-0000-4000-8000-00000000000a}"
	c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: gone}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: root}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: stuck, finalizers: [example.com/hold]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/hold]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: left, ownerReferences: [`+absent+`]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: pod}, spec: {containers: [{name: c, image: i}]}}
`, "-n", namespace)
	c.Kubectl(t, "delete", "configmap/stuck", "configmap/held", "-n", namespace, "--wait=false")
	t.Cleanup(func() {
		for _, name := range []string{"stuck", "held"} {
			// unless it is gone
			_, _ = c.Try(context.Background(), "", "patch", "configmap", name, "-n", namespace, "--type=merge", "-p",
				`{"metadata":{"finalizers":null}}`)
		}
	})
	saved := filepath.Join(t.TempDir(), "saved.yaml")
	as := []string{"--as=as-ann", "--as-group=system:masters", "-n", namespace, "--kubeconfig=" + proxy.Kubeconfig(t)}
	for _, test := range []struct {
		args string
		code int
	}{
		{"tree", 0}, {"tree pod/pod -o html", 0}, {"tree configmap/root --owners", 0}, {"why --older-than=0s --probe", 2},
		{"why configmap/stuck -o json", 2}, {"check", 2}, {"check --fix --dry-run=server", 2},
		{"explain --in-cluster", 0}, {"delete pod/pod --dry-run=server", 0}, {"archive configmap/gone --to=" + saved, 0},
		{"delete configmap/gone --cascade=foreground --strict --gc=client --yes --archive=" + saved + ".2", 0},
		{"restore configmap/gone -f " + saved + " --yes", 0}, {"adopt configmap/other --owner=configmap/root", 0},
		{"disown configmap/other --all --yes", 0},
		{"unfinalize configmap/stuck --finalizer=example.com/hold --force --yes", 0},
		{"rescue configmap/held --force --yes --archive=" + saved + ".3", 0}, {"run --yes --allow-mass-collection", 0},
		{"wait configmap/nobody", 0}, {"__complete tree configmap/", 0},
	} {
		before := len(proxy.Requests())
		// What is completed takes the flags before the word.
		args := slices.Concat(strings.Fields(test.args), as)
		if words := strings.Fields(test.args); words[0] == "__complete" {
			args = slices.Concat(words[:2], as, words[2:])
		}
		got := run(t, args...)
		requests := proxy.Requests()[before:]
		if got.code != test.code || len(requests) == 0 {
			t.Errorf("%s: exit code %d, want %d, %d requests\n%s%s", test.args, got.code, test.code, len(requests), got.stdout,
				got.stderr)
		}
		sentAs(t, test.args, requests)
	}
	before := len(proxy.Requests())
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		script.InProcess(ctx, "", append([]string{"run", "--watch", "--yes"}, as...)...)
	}()
	testcluster.Eventually(t, "run --watch watches", func(context.Context) (bool, error) {
		return slices.ContainsFunc(proxy.Requests()[before:],
			func(r faultproxy.Request) bool { return r.Query.Get("watch") != "" }), nil
	})
	stop()
	<-done
	sentAs(t, "run --watch", proxy.Requests()[before:])
}

// sentAs checks in whose name requests were sent.
func sentAs(t *testing.T, command string, requests []faultproxy.Request) {
	t.Helper()
	for _, r := range requests {
		if r.Header.Get("Impersonate-User") != "as-ann" || r.Header.Get("Impersonate-Group") != "system:masters" {
			t.Errorf("%s sends %s %s?%s as %q, %q", command, r.Method, r.Path, r.Query.Encode(),
				r.Header.Get("Impersonate-User"), r.Header.Values("Impersonate-Group"))
		}
	}
}
