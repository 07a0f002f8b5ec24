package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/script"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// guardPack knows a config map that keeps another one from being deleted, as a Usage of Crossplane
// does, and that a webhook writes about objects with a label on dry runs.
const guardPack = `
title: Guards
links:
- id: test-guard
  name: guard
  from: {kinds: [v1/ConfigMap], where: [{label: $NS-guard}]}
  ends: [{form: text, field: data.keeps, kind: v1/ConfigMap}]
  deletion: {of: guard}
  dryRunWrites: {webhooks: [guard.example.com], label: $NS-kept, writes: an annotation on the object}
  verified: source
  source: https://example.com
`

// guardedObjects are some that are guarded, by name, by label and below an owner, and a webhook
// that would be called for them.
const guardedObjects = `
apiVersion: v1
kind: ConfigMap
metadata: {name: named}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: labelled, labels: {$NS-kept: "true"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: waiting, labels: {$NS-kept: "true"}, finalizers: [example.com/hold]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: free}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: guard, labels: {$NS-guard: "true"}}
data: {keeps: named}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: owner}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: $NS}
webhooks:
- name: guard.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {url: "https://127.0.0.1:1/guard"}
  objectSelector: {matchLabels: {$NS-kept: "true"}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]
`

// dryDeleted returns the names of the objects for which a DELETE with dryRun=All was sent.
func dryDeleted(p *faultproxy.Proxy) string {
	var names []string
	for _, r := range p.Requests() {
		if r.Method == http.MethodDelete && strings.Contains(string(r.Body), `"dryRun":["All"]`) {
			names = append(names, filepath.Base(r.Path))
		}
	}
	return strings.Join(names, " ")
}

// TestNoDryRunIsSentForWhatAGuardKeeps: a webhook may write on a dry run, and a program delete the
// object because of it. No command sends one, nor where it cannot be known whether the object is
// kept, and that is said; it sends one for other objects.
func TestNoDryRunIsSentForWhatAGuardKeeps(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	manifest := strings.ReplaceAll(guardedObjects, "$NS", ns)
	c.Apply(t, manifest, "-n", ns)
	t.Cleanup(func() { c.Kubectl(t, "delete", "validatingwebhookconfiguration", ns) })
	owned := `, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: ` + uidOf(t, c, ns, "owner") + `}]`
	c.Apply(t, configMap("below", owned+`, labels: {`+ns+`-kept: "true"}`), "-n", ns)
	fixture.Free(t, c, ns, "configmap/waiting")
	c.Kubectl(t, "delete", "configmap", "waiting", "--cascade=foreground", "--wait=false", "-n", ns)
	packs, archives := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(packs, "guards.yaml"), []byte(strings.ReplaceAll(guardPack, "$NS", ns)),
		0o600); err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, p *faultproxy.Proxy, command string) (code int, printed string) {
		t.Helper()
		args := append(strings.Fields(command), "--kubeconfig", p.Kubeconfig(t), "-n", ns)
		if args[0] != "run" {
			args = append(args, "--packs", packs)
		}
		code, stdout, stderr := script.InProcess(t.Context(), "", args...)
		return code, stdout + stderr
	}
	for _, test := range []struct{ command, sent, says string }{
		{"why configmap/named", "", "/guard keeps it"},
		{"why configmap/named -o json", "", "AdmissionDenied"},
		{"why configmap/named --no-dry-run", "", "/guard keeps it"},
		{"why configmap/labelled", "", "AdmissionDenied"},
		{"why configmap/waiting", "", ""},
		{"delete configmap/named --dry-run=server", "", "keeps it"},
		{"delete configmap/named --dry-run=server --cascade=foreground -o json", "", ""},
		{"delete configmap/labelled --dry-run=server --cascade=orphan", "", "the label " + ns + "-kept"},
		{"delete configmap/named --cascade=foreground", "", "there is no terminal to ask on"},
		{"delete configmap/owner --dry-run=server", "owner", "the server refuses the deletion of ConfigMap/below"},
		{"delete configmap/owner", "", "the server refuses the deletion of ConfigMap/below"},
		{"unfinalize configmap/waiting --dry-run=server", "", ""},
		{"unfinalize configmap/waiting --finalizer foregroundDeletion --force --dry-run=server", "", ""},
		{"rescue configmap/waiting --force --dry-run=server --archive " + filepath.Join(archives, "waiting.yaml"), "", ""},
		{"run --dry-run", "", ""},
		{"tree configmap/named", "", ""},
		{"check", "", ""},
		{"delete configmap/free --dry-run=server", "free", "deletes 1 object of 1 kind"},
		{"why configmap/free", "free", "the server would accept a DELETE"},
		{"why configmap/free --no-dry-run", "", "no dry run was to be sent"},
	} {
		t.Run(test.command, func(t *testing.T) {
			p := faultproxy.Start(t, c.Config())
			code, printed := run(t, p, test.command)
			if sent := dryDeleted(p); sent != test.sent || !strings.Contains(printed, test.says) {
				t.Errorf("dry runs of DELETE for %q, want %q; exit code %d, want %q in:\n%s", sent, test.sent, code, test.says,
					printed)
			}
		})
	}
	t.Run("what goes with its guard", func(t *testing.T) {
		c.Apply(t, configMap("family", ""), "-n", ns)
		of := ownedBy("family", uidOf(t, c, ns, "family"), "")
		c.Apply(t, configMap("kept", of), "-n", ns)
		c.Apply(t, configMap("user", of), "-n", ns)
		of = ownedBy("user", uidOf(t, c, ns, "user"), "")
		c.Apply(t, configMap("keeper", of+`, labels: {`+ns+`-guard: "true"}`)+"data: {keeps: kept}\n", "-n", ns)
		p := faultproxy.Start(t, c.Config())
		if _, printed := run(t, p, "delete configmap/family --dry-run=server"); strings.Contains(dryDeleted(p), "kept") ||
			!strings.Contains(printed, "it is unknown whether the server refuses 1 delete") {
			t.Errorf("dry runs of DELETE for %q; printed:\n%s", dryDeleted(p), printed)
		}
	})
	t.Run("where the guards may not be listed", func(t *testing.T) {
		for command, says := range map[string]string{
			"delete configmap/free --dry-run=server": "no dry run was sent",
			"why configmap/free":                     "whether the server would accept a DELETE was not tried, because reading configmaps",
		} {
			p := faultproxy.Start(t, c.Config())
			p.On(faultproxy.Path("/api/v1/configmaps"),
				faultproxy.Status(http.StatusForbidden, "Forbidden", "configmaps is forbidden"))
			if code, printed := run(t, p, command); code == 0 || dryDeleted(p) != "" || !strings.Contains(printed, says) {
				t.Errorf("%s: exit code %d, dry runs of DELETE for %q, want %q in:\n%s", command, code, dryDeleted(p), says,
					printed)
			}
		}
	})
	t.Run("where the labels may not be read", func(t *testing.T) {
		p := faultproxy.Start(t, c.Config())
		p.On(func(r *http.Request) bool {
			return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/configmaps/free") &&
				strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
		}, faultproxy.Status(http.StatusForbidden, "Forbidden", "configmaps is forbidden"))
		if _, printed := run(t, p, "delete configmap/free --dry-run=server"); dryDeleted(p) != "" ||
			!strings.Contains(printed, "its labels could not be read") {
			t.Errorf("dry runs of DELETE for %q; printed:\n%s", dryDeleted(p), printed)
		}
	})
	t.Run("with -v=1", func(t *testing.T) {
		p := faultproxy.Start(t, c.Config())
		want := "Dry runs can have called webhook guard.example.com of ValidatingWebhookConfiguration " + ns
		if _, printed := run(
			t, p, "delete configmap/free --dry-run=server -v=1"); !strings.Contains(strings.ReplaceAll(printed, ", webhook",
			"\nDry runs can have called webhook"), want) {
			t.Errorf("%q is not in:\n%s", want, printed)
		}
	})
}
