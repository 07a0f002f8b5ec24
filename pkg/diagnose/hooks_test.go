package diagnose

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// operated is what is known of the finalizer example.com/held, whose operator lives.
func operated(t testing.TB, c *testcluster.Cluster, namespace string) *finalizer.Registry {
	t.Helper()
	c.Apply(t, fixture.Lease(namespace, "operator", "me", time.Now().Add(time.Hour))) // it lives on, however long that takes
	return fixture.Pack(t, "example.com/held", fmt.Sprintf("leases: ['%s/operator']", namespace))
}

// webhook writes a webhook configuration of one webhook, for config maps and pods of one namespace.
func webhook(kind, namespace, operation, client string) string {
	return fmt.Sprintf(`---
apiVersion: admissionregistration.k8s.io/v1
kind: %[1]sWebhookConfiguration
metadata: {name: %[2]s}
webhooks:
- name: %[3]s.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: %[4]s
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[2]s}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [%[5]s], resources: [configmaps, pods]}]
`, kind, namespace, strings.ToLower(kind), client, operation)
}

// registered applies a webhook configuration, which goes with the test, and waits until a request
// fails or is changed because of it.
func registered(t testing.TB, c *testcluster.Cluster, kind, namespace, manifest string,
	effective func(ctx context.Context) bool) {
	t.Helper()
	c.Apply(t, manifest)
	t.Cleanup(func() { c.Kubectl(t, "delete", kind+"webhookconfiguration", namespace, "--ignore-not-found") })
	testcluster.Eventually(t, "the webhook is called",
		func(ctx context.Context) (bool, error) { return effective(ctx), nil })
}

// fails reports whether a kubectl command fails.
func fails(c *testcluster.Cluster, args ...string) func(context.Context) bool {
	return func(ctx context.Context) bool { _, err := c.Try(ctx, "", args...); return err != nil }
}

// inUse is how the webhook of Crossplane begins what it says of an object that a Usage protects: as
// the reason of a conflict, without a message.
const inUse = "This resource is in-use by"

// review answers an AdmissionReview: no text admits, one that begins with 409 is a conflict, as is
// one that begins with inUse, and a patch changes the object.
type review func(request map[string]any) (denial string, patch []map[string]any)

// answering serves a webhook and returns the clientConfig with which it is reached.
func answering(t testing.TB, answer review) string {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Request map[string]any }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		denial, patch := answer(in.Request)
		response := map[string]any{"uid": in.Request["uid"], "allowed": denial == ""}
		if denial != "" {
			status := map[string]any{"message": denial}
			if strings.HasPrefix(denial, inUse) {
				status = map[string]any{"code": http.StatusConflict, "reason": denial}
			}
			if strings.HasPrefix(denial, "409 ") {
				status["code"], status["reason"] = http.StatusConflict, "Conflict"
			}
			response["status"] = status
		}
		if len(patch) > 0 {
			raw, _ := json.Marshal(patch)
			response["patchType"], response["patch"] = "JSONPatch", base64.StdEncoding.EncodeToString(raw)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
			"response": response})
	}))
	t.Cleanup(server.Close)
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return fmt.Sprintf(`{url: "%s/hook", caBundle: %s}`, server.URL, base64.StdEncoding.EncodeToString(bundle))
}

// typed runs a command as it is printed, the way a shell reads it. Where it opens an editor, editor
// is that.
func typed(t testing.TB, c *testcluster.Cluster, command string, editor ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf '%s\\0' "+command).Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if words[0] != "kubectl" || words[1] == "gc" {
		t.Fatalf("%q is no command of kubectl alone", command)
	}
	if len(editor) == 0 {
		c.Kubectl(t, words[1:]...)
		return
	}
	cmd := c.Command(t.Context(), words[1:]...)
	cmd.Env = append(cmd.Env, "KUBE_EDITOR="+editor[0])
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
}

// last is the last command of a cause: the one that is sure to work.
func last(cause v1alpha1.Cause) string { return cause.Commands[len(cause.Commands)-1] }

// letGo does what the actor of the finalizers has not been able to, and waits until the object is
// gone.
func letGo(t testing.TB, c *testcluster.Cluster, namespace, object string) {
	t.Helper()
	testcluster.Eventually(t, object+" is let go", func(ctx context.Context) (bool, error) {
		// until admission knows of the cure
		_, _ = c.Try(ctx, "", "patch", object, "-n", namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		return fails(c, "get", object, "-n", namespace, "-o", "name")(ctx), nil
	})
}

// stuckOf returns what is said of an object.
func stuckOf(t testing.TB, d *v1alpha1.Diagnosis, name string) v1alpha1.Stuck {
	t.Helper()
	i := slices.IndexFunc(d.Stuck, func(s v1alpha1.Stuck) bool { return s.Object.Name == name })
	if i < 0 {
		t.Fatalf("nothing is said of %s", name)
	}
	return d.Stuck[i]
}
