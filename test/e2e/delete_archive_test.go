package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestADependentThatComesUpAfterThePlanIsLeftAlone by --gc=client: it is deleted by nothing that
// was agreed to, and it is in no archive.
func TestADependentThatComesUpAfterThePlanIsLeftAlone(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		args          []string
		archive       bool
		code          int
		stderr        []string
		owner, gone   bool
		withReference bool
	}{
		"background": {args: []string{"--cascade=background"}, code: 2,
			stderr: []string{"dependents that are not in the plan were not deleted: ConfigMap/new"}, withReference: true},
		"background, archived": {args: []string{"--cascade=background"}, archive: true, code: 2,
			stderr:        []string{"dependents that are not in the plan and the archive were not deleted: ConfigMap/new"},
			withReference: true},
		"foreground, archived": {args: []string{"--cascade=foreground"}, archive: true, code: 2,
			stderr: []string{"were not deleted: ",
				"wait for dependents that are not in the plan; not deleted yet: ConfigMap/owner"}, owner: true,
			withReference: true},
		"orphan": {args: []string{"--cascade=orphan"}},
		"orphan, archived": {args: []string{"--cascade=orphan"}, archive: true, code: 2,
			stderr: []string{"were not deleted: ", "not deleted yet: ConfigMap/owner"}, owner: true, withReference: true},
		"background, not waiting": {args: []string{"--cascade=background", "--wait=false"}, archive: true, code: 2,
			stderr: []string{"were not deleted: "}, withReference: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			c.Apply(t, configMap("owner", ""), "-n", ns)
			uid := uidOf(t, c, ns, "owner")
			c.Apply(t, configMap("old", ownedBy("owner", uid, ", blockOwnerDeletion: true")), "-n", ns)
			proxy := faultproxy.Start(t, c.Config())
			var once sync.Once
			proxy.On(func(r *http.Request) bool { return r.Method == http.MethodDelete && r.Header.Get("X-Dry-Run") == "" },
				func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					once.Do(func() { c.Apply(t, configMap("new", ownedBy("owner", uid, ", blockOwnerDeletion: true")), "-n", ns) })
					next.ServeHTTP(w, r)
				})
			file := filepath.Join(t.TempDir(), "archive.yaml")
			args := append([]string{"configmap/owner", "-n", ns, "--gc=client", "--yes", "--timeout=1m", "-o", "json"},
				test.args...)
			if test.archive {
				args = append(args, "--archive", file)
			}
			d := del(t, proxy.Kubeconfig(t), "", args...)
			d.want(t, test.code, test.stderr...)
			now := c.Kubectl(t, "get", "configmap", "new", "-n", ns, "--ignore-not-found", "-o",
				"jsonpath={.metadata.name}/{.metadata.deletionTimestamp}/{.metadata.ownerReferences[*].name}")
			if want := map[bool]string{true: "new//owner", false: "new//"}[test.withReference]; now != want {
				t.Errorf("new is %q, want %q", now, want)
			}
			if there := c.Kubectl(t, "get", "configmap", "owner", "-n", ns, "--ignore-not-found", "-o",
				"name") != ""; there != test.owner {
				t.Errorf("the owner is there: %t, want %t", there, test.owner)
			}
			if skipped := d.result(t).Skipped; (len(skipped) == 1) != test.withReference || test.withReference &&
				skipped[0].Object.Name != "new" {
				t.Errorf("skipped: %+v", skipped)
			}
			if test.archive {
				if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "name: new\n") ||
					!strings.Contains(string(text), "name: old\n") {
					t.Errorf("%v, the archive: %s", err, text)
				}
			}
		})
	}
}

// TestWhatWasChangedSinceItWasArchivedIsNotDeleted: with it something would be lost that the
// archive does not have. A status is no such thing.
func TestWhatWasChangedSinceItWasArchivedIsNotDeleted(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		patch []string
		code  int
	}{
		"content": {patch: []string{`{"spec":{"replicas":3}}`}, code: 2},
		"status":  {patch: []string{`{"status":{"observedGeneration":1}}`, "--subresource=status"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := c.Namespace(t)
			c.Kubectl(t, "create", "deployment", "web", "--image=c", "-n", ns)
			proxy := faultproxy.Start(t, c.Config())
			var once sync.Once
			proxy.On(func(r *http.Request) bool { return r.Method == http.MethodDelete },
				func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					once.Do(func() {
						c.Kubectl(t, append([]string{"patch", "deployment", "web", "-n", ns, "--type=merge", "-p"}, test.patch...)...)
					})
					next.ServeHTTP(w, r)
				})
			d := del(t, proxy.Kubeconfig(t), "", "deployment/web", "-n", ns, "--wait=false", "--yes", "--archive",
				filepath.Join(t.TempDir(), "archive.yaml"))
			d.want(t, test.code)
			if test.code != 0 && (!strings.Contains(d.stderr,
				`deployments "web" was not deleted: it was changed since it was archived`) ||
				!strings.Contains(d.stderr, "hint: run the command again with another archive")) {
				t.Errorf("stderr: %s", d.stderr)
			}
			if there := c.Kubectl(t, "get", "deployment", "web", "-n", ns, "--ignore-not-found", "-o",
				"name") != ""; there != (test.code != 0) {
				t.Errorf("it is there: %t", there)
			}
		})
	}
}
