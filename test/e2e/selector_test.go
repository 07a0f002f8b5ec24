package e2e

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// before calls change before the nth request that matches is passed on.
func before(proxy *faultproxy.Proxy, matches func(*http.Request) bool, nth int32, change func()) {
	var requests atomic.Int32
	proxy.On(matches, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if requests.Add(1) == nth {
			change()
		}
		next.ServeHTTP(w, r)
	})
}

// TestASelectorIsCheckedAgain: what a selector means is found out by one request and listed by
// another. An object that was relabelled or created again in between, or between the plan and its
// delete, is not deleted.
func TestASelectorIsCheckedAgain(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	recreate := func(ns, kind, manifest string) {
		c.Kubectl(t, "delete", kind, "one", "-n", ns, "--grace-period=0", "--force")
		c.Apply(t, manifest, "-n", ns)
	}
	relabel := func(ns string) { c.Kubectl(t, "label", "configmap", "one", "app=other", "--overwrite", "-n", ns) }
	plain, labelled := configMap("one", ""), configMap("one", ", labels: {app: web}")
	pod := `---
apiVersion: v1
kind: Pod
metadata: {name: one}
spec: {containers: [{name: c, image: none}]}
`
	phase := func(ns, phase string) {
		c.Kubectl(t, "patch", "pod", "one", "-n", ns, "--subresource=status", "--type=merge", "-p",
			`{"status":{"phase":"`+phase+`"}}`)
	}
	for name, test := range map[string]struct {
		manifest string
		prepare  func(ns string)
		args     []string
		when     string // listing or delete
		change   func(ns string)
		stderr   string
	}{
		"relabelled before the listing": {labelled, nil, []string{"configmaps", "-l", "app=web"}, "listing", relabel,
			"no longer matches the selector"},
		"created again without the label": {labelled, nil, []string{"configmaps", "-l", "app=web"}, "listing",
			func(ns string) { recreate(ns, "configmap", plain) }, "another object has its name now"},
		"created again with the label": {labelled, nil, []string{"configmaps", "-l", "app=web"}, "listing",
			func(ns string) { recreate(ns, "configmap", labelled) }, "another object has its name now"},
		"created again, of all": {plain, nil, []string{"configmaps", "--all"}, "listing",
			func(ns string) { recreate(ns, "configmap", plain) }, "another object has its name now"},
		"relabelled before the delete": {labelled, nil, []string{"configmaps", "-l", "app=web"}, "delete", relabel,
			"no longer matches the selector"},
		"relabelled and changed otherwise": {labelled, nil, []string{"configmaps", "-l", "app=web"}, "delete",
			func(ns string) {
				patch(t, c, ns, "one", `{"metadata":{"labels":{"app":"other"},"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"66666666-6666-6666-6666-666666666666"}]}}`)
			}, "no longer matches the selector"},
		"a field changed before the listing": {pod, func(ns string) { phase(ns, "Failed") },
			[]string{"pods", "--field-selector", "status.phase=Failed"}, "listing", func(ns string) { phase(ns, "Running") },
			"no longer matches the selector"},
		"a field changed before the delete": {pod, func(ns string) { phase(ns, "Failed") },
			[]string{"pods", "--field-selector", "status.phase=Failed"}, "delete", func(ns string) { phase(ns, "Running") },
			"no longer matches the selector"},
		"both selectors, and the label was changed": {labelled, nil,
			[]string{"configmaps", "-l", "app=web", "--field-selector", "metadata.name=one"}, "listing", relabel,
			"no longer matches the selector"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			c.Apply(t, test.manifest, "-n", ns)
			if test.prepare != nil {
				test.prepare(ns)
			}
			proxy := faultproxy.Start(t, c.Config())
			switch test.when {
			case "listing": // the first list is the selector's own
				before(proxy, faultproxy.Path("/namespaces/"+ns+"/"+test.args[0]), 2, func() { test.change(ns) })
			case "delete":
				before(proxy, deletes, 1, func() { test.change(ns) })
			}
			all := []string{"configmap/one"}
			if test.args[0] == "pods" {
				all = []string{"pod/one"}
			}
			d := del(t, proxy.Kubeconfig(t), "", append(test.args, "-n", ns, "--yes", "--timeout=30s")...)
			d.want(t, 0, `"one"`, test.stderr)
			left := c.Kubectl(t, "get", all[0], "-n", ns, "--ignore-not-found", "-o",
				"jsonpath={.metadata.name}/{.metadata.deletionTimestamp}")
			if left != "one/" {
				t.Errorf("%s is %q, want it there and not being deleted\n%s%s", all[0], left, d.stdout, d.stderr)
			}
		})
	}
}

// TestWhatStillMatchesIsDeleted: a change that leaves an object with its selector is no reason to
// leave it out.
func TestWhatStillMatchesIsDeleted(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, args := range map[string][]string{
		"label":          {"-l", "app=web"},
		"field":          {"--field-selector", "metadata.name=one"},
		"label or field": {"-l", "app=web", "--field-selector", "metadata.name=one"},
		"all":            {"--all"},
	} {
		for _, when := range []string{"listing", "delete"} {
			t.Run(name+" changed before the "+when, func(t *testing.T) {
				t.Parallel()
				ns := c.Namespace(t)
				c.Apply(t, configMap("one", ", labels: {app: web}"), "-n", ns)
				proxy := faultproxy.Start(t, c.Config())
				change := func() { c.Kubectl(t, "label", "configmap", "one", "more=one", "-n", ns) }
				if when == "listing" {
					before(proxy, faultproxy.Path("/namespaces/"+ns+"/configmaps"), 2, change)
				} else {
					before(proxy, deletes, 1, change)
				}
				d := del(t, proxy.Kubeconfig(t), "", append(args, "configmaps", "-n", ns, "--yes", "--timeout=30s")...)
				d.want(t, 0)
				if uidOf(t, c, ns, "one") != "" || strings.Contains(d.stderr, "no longer matches") {
					t.Errorf("one is there\n%s%s", d.stdout, d.stderr)
				}
			})
		}
	}
}

// TestASelectorReadsMetadataOnce: what a selector means costs one list of metadata for each type,
// whatever the number of objects.
func TestASelectorReadsMetadataOnce(t *testing.T) {
	t.Parallel()
	_, ns, proxy := withConfigMaps(t, "a", "b", "c")
	run(t, "delete", "--kubeconfig", proxy.Kubeconfig(t), "configmaps", "--all", "-n", ns, "--dry-run=client")
	lists := 0
	for _, r := range proxy.Requests() {
		if strings.HasSuffix(r.Path, "/namespaces/"+ns+"/configmaps") {
			lists++
			if !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") {
				t.Errorf("%s was asked for whole objects", r.Path)
			}
		}
	}
	if lists != 2 {
		t.Errorf("%d lists of config maps, want 2: one by the selector, and one for the plan", lists)
	}
}

// TestASelectorOfUnfinalizeIsCheckedAgain: an object that was relabelled after it was listed, or
// after it was agreed to, keeps its finalizer.
func TestASelectorOfUnfinalizeIsCheckedAgain(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for _, test := range []struct {
		name    string
		matches func(*http.Request) bool
		nth     int32
		code    int
	}{
		{"before it is judged", faultproxy.Path("/configmaps/one"), 1, 0},
		// the first reads judge it, the dry run among them
		{"before it is written to", faultproxy.Path("/configmaps/one"), 3, 2},
		{"while it is written to", func(r *http.Request) bool {
			return r.Method == http.MethodPatch && !r.URL.Query().Has("dryRun")
		}, 1, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			c.Apply(t, configMap("one", ", labels: {app: web}, finalizers: [example.com/hold]"), "-n", ns)
			t.Cleanup(func() {
				c.Kubectl(t, "patch", "configmap", "one", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
			})
			c.Kubectl(t, "delete", "configmap", "one", "-n", ns, "--wait=false")
			proxy := faultproxy.Start(t, c.Config())
			before(proxy, test.matches, test.nth,
				func() { c.Kubectl(t, "label", "configmap", "one", "app=other", "--overwrite", "-n", ns) })
			r := run(t, "unfinalize", "--kubeconfig", proxy.Kubeconfig(t), "configmaps", "-l", "app=web", "-n", ns,
				"--finalizer", "example.com/hold", "--force", "--yes")
			if r.code != test.code || !strings.Contains(r.stderr, "it no longer matches the selector") {
				t.Errorf("exit code %d, want %d\n%s%s", r.code, test.code, r.stdout, r.stderr)
			}
			if uidOf(t, c, ns, "one") == "" {
				t.Errorf("one lost its finalizer\n%s%s", r.stdout, r.stderr)
			}
		})
	}
}
