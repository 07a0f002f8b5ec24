package diagnose

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/workloads"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// nobodyBehind writes a Service without endpoints, which selects a Deployment that is scaled to 0.
func nobodyBehind(namespace string) string {
	return fixture.Deployment(namespace, "hook", 0) +
		fmt.Sprintf(
			"---\napiVersion: v1\nkind: Service\nmetadata: {name: hook, namespace: %s}\nspec: {selector: {app: hook}, ports: [{port: 443}]}\n", namespace)
}

func toService(namespace string) string {
	return fmt.Sprintf("{service: {namespace: %s, name: hook}}", namespace)
}

var label = []string{"patch", "configmap", "cm", "--type=merge", "-p", `{"metadata":{"labels":{"try":"me"}}}`,
	"--dry-run=server", "-n"}

// heldConfigMap makes a ConfigMap cm with the finalizer of an operator that lives, and deletes it.
// It returns what is known of the finalizer.
func heldConfigMap(t testing.TB, c *testcluster.Cluster, namespace string) *finalizer.Registry {
	t.Helper()
	operator := operated(t, c, namespace)
	c.Apply(t, fixture.ConfigMap(namespace, "cm", "example.com/held"))
	fixture.Free(t, c, namespace, "configmap/cm")
	deleted(t, c, "configmap", "cm", "-n", namespace)
	return operator
}

// TestWebhookOnUpdateIsDown: the operator lives and cannot remove its finalizer. The webhook is to
// blame, and not the operator.
func TestWebhookOnUpdateIsDown(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := heldConfigMap(t, c, ns)
	c.Apply(t, nobodyBehind(ns))
	registered(t, c, "validating", ns, webhook("Validating", ns, "UPDATE", toService(ns)), fails(c, append(label, ns)...))
	d := examine(t, c.Config(), Options{Known: operator}, ns)
	wantCauses(t, d, map[string][]string{"ConfigMap/cm": {"AdmissionWebhookDown ValidatingWebhookConfiguration/" + ns}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, `failed calling webhook "validating.example.com"`)
	wantEvidence(
		t, cause, "a rule of webhook validating.example.com matches UPDATE of configmaps, and its failurePolicy is Fail")
	wantEvidence(t, cause, "Service "+ns+"/hook has no ready endpoints")
	wantEvidence(t, cause, "Deployment "+ns+"/hook is scaled to 0")
	if want := "kubectl scale deployments.apps/hook -n " + ns + " --replicas=1"; cause.Commands[0] != want {
		t.Errorf("the first command is %q, want %q", cause.Commands[0], want)
	}
	typed(t, c, cause.Commands[0])
	if got := c.Kubectl(t, "get", "deployment", "hook", "-n", ns, "-o", "jsonpath={.spec.replicas}"); got != "1" {
		t.Errorf("the Deployment has %s replicas, want 1", got)
	}
	typed(t, c, last(cause))
	letGo(t, c, ns, "configmap/cm")
}

// TestWebhookThatNobodyMayTry: somebody who may look and not write gets the same answer, and so
// does everybody where a webhook has no dry run (API-041).
func TestWebhookThatNobodyMayTry(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := heldConfigMap(t, c, ns)
	c.Apply(t, nobodyBehind(ns))
	registered(t, c, "validating", ns, webhook("Validating", ns, "UPDATE", toService(ns)), fails(c, append(label, ns)...))
	// Another that is down and is not called for updates.
	other := strings.NewReplacer("metadata: {name: "+ns, "metadata: {name: other-"+ns, "- name: validating",
		"- name: other").Replace(webhook("Validating", ns, "DELETE", toService(ns)))
	c.Apply(t, other)
	t.Cleanup(func() { c.Kubectl(t, "delete", "validatingwebhookconfiguration", "other-"+ns) })
	permitted(t, c, "reader-"+ns, "get,list,watch", "*.*")
	testcluster.Eventually(t, "the reader may read", func(ctx context.Context) (bool, error) {
		return c.Command(ctx, "get", "configmaps", "-n", ns, "--as=reader-"+ns).Run() == nil, nil
	})
	proxy := faultproxy.Start(t, c.Config())
	proxy.On(func(r *http.Request) bool { return r.Method == http.MethodPatch },
		faultproxy.Status(400, metav1.StatusReasonBadRequest,
			`admission webhook "validating.example.com" does not support dry run`))
	want := map[string][]string{"ConfigMap/cm": {"AdmissionWebhookDown ValidatingWebhookConfiguration/" + ns}}
	wantCauses(t, examine(t, c.As("reader-"+ns), Options{Known: operator}, ns), want)
	wantCauses(t, examine(t, proxy.Config(), Options{Known: operator}, ns), want)

	// A test of the patch that fails, because the object has changed, is no answer yet.
	changing := faultproxy.Start(t, c.Config())
	changing.On(func(r *http.Request) bool { return r.Method == http.MethodPatch },
		faultproxy.Times(1, faultproxy.Status(422, metav1.StatusReasonInvalid,
			"the server rejected our request due to an error in our request")))
	wantCauses(t, examine(t, changing.Config(), Options{Known: operator}, ns), want)
}

// TestServerDeniesByItself: an admission plugin of the API server, which has no object.
func TestServerDeniesByItself(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := heldConfigMap(t, c, ns)
	for message, want := range map[string]string{
		`configmaps "cm" is forbidden: not on a Sunday`:                                             "AdmissionDenied ConfigMap/cm",
		`configmaps "cm" is forbidden: User "u" cannot patch resource "configmaps" in API group ""`: "FinalizerActorAlive ConfigMap/cm",
	} {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(func(r *http.Request) bool { return r.Method == http.MethodPatch },
			faultproxy.Status(403, metav1.StatusReasonForbidden, message))
		wantCauses(t, examine(t, proxy.Config(), Options{Known: operator}, ns), map[string][]string{"ConfigMap/cm": {want}})
	}
}

// TestWebhookOnDeleteIsDown: an owner waits for a dependent that nobody can delete.
func TestWebhookOnDeleteIsDown(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "root"))
	owned(t, c, ns, "dependent", "root", true)
	fixture.Free(t, c, ns, "configmap/root")
	deleted(t, c, "configmap", "root", "-n", ns, "--cascade=foreground")
	remove := []string{"delete", "configmap", "dependent", "-n", ns}
	registered(t, c, "validating", ns, webhook("Validating", ns, "DELETE", toService(ns)),
		fails(c, append(remove, "--dry-run=server")...))
	want := []string{"AdmissionWebhookDown ValidatingWebhookConfiguration/" + ns}
	d := examine(t, c.Config(), Options{}, ns, subject{"configmaps/root", ns}, subject{"configmaps/dependent", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/root": want, "ConfigMap/dependent": want})
	wantEvidence(t, d.Stuck[0].Causes[0], "Service "+ns+"/hook does not exist")
	typed(t, c, last(d.Stuck[0].Causes[0]))
	testcluster.Eventually(t, "the dependent can be deleted",
		func(ctx context.Context) (bool, error) { return !fails(c, remove...)(ctx), nil })
}

// TestPolicyDeniesTheUpdate: the policy is named, and the printed command exempts what is being
// deleted, and nothing else.
func TestPolicyDeniesTheUpdate(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := heldConfigMap(t, c, ns)
	c.Apply(t, fixture.ConfigMap(ns, "living"))
	deny(t, c, ns, "UPDATE", "false")
	testcluster.Eventually(t, "the policy is enforced",
		func(ctx context.Context) (bool, error) { return fails(c, append(label, ns)...)(ctx), nil })
	d := examine(t, c.Config(), Options{Known: operator}, ns)
	wantCauses(t, d, map[string][]string{"ConfigMap/cm": {"AdmissionDenied ValidatingAdmissionPolicy/" + ns}})
	wantEvidence(t, d.Stuck[0].Causes[0], "it stays as it is")
	typed(t, c, last(d.Stuck[0].Causes[0]))
	letGo(t, c, ns, "configmap/cm")
	if !fails(c, "label", "configmap", "living", "-n", ns, "try=me")(t.Context()) {
		t.Error("the policy does not hold any more for what is not being deleted")
	}
}

// TestPolicyDeniesManyUpdates: what is said of each object is the same, so that it is told once.
func TestPolicyDeniesManyUpdates(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := heldConfigMap(t, c, ns)
	c.Apply(t, fixture.ConfigMap(ns, "other", "example.com/held"))
	fixture.Free(t, c, ns, "configmap/other")
	deleted(t, c, "configmap", "other", "-n", ns)
	deny(t, c, ns, "UPDATE", "false")
	testcluster.Eventually(t, "the policy is enforced",
		func(ctx context.Context) (bool, error) { return fails(c, append(label, ns)...)(ctx), nil })
	d := examine(t, c.Config(), Options{Known: operator}, ns)
	want := []string{"AdmissionDenied ValidatingAdmissionPolicy/" + ns}
	wantCauses(t, d, map[string][]string{"ConfigMap/cm": want, "ConfigMap/other": want})
	one, other := d.Stuck[0].Causes[0].Evidence, d.Stuck[1].Causes[0].Evidence
	if !slices.Equal(one, other) {
		t.Errorf("one policy is told twice: %q and %q", one, other)
	}
	typed(t, c, last(d.Stuck[0].Causes[0]))
	letGo(t, c, ns, "configmap/cm")
}

// TestPolicyDeniesTheDeletion of an object that was asked about.
func TestPolicyDeniesTheDeletion(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "cm"))
	deny(t, c, ns, "DELETE", "false")
	remove := []string{"delete", "configmap", "cm", "-n", ns}
	testcluster.Eventually(t, "the policy is enforced", func(ctx context.Context) (bool, error) {
		return fails(c, append(remove, "--dry-run=server")...)(ctx), nil
	})
	d := examine(t, c.Config(), Options{}, ns, subject{"configmaps/cm", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/cm": {"AdmissionDenied ValidatingAdmissionPolicy/" + ns}})
	typed(t, c, last(d.Stuck[0].Causes[0]))
	testcluster.Eventually(t, "it can be deleted",
		func(ctx context.Context) (bool, error) { return !fails(c, remove...)(ctx), nil })
}

// deny has a policy deny an operation on those config maps of a namespace for which an expression
// is false.
func deny(t testing.TB, c *testcluster.Cluster, namespace, operation, unless string) {
	t.Helper()
	c.Apply(t, fmt.Sprintf(`---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [%[2]s], resources: [configmaps]}]
  validations: [{expression: "%[3]s", message: it stays as it is}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, namespace, operation, unless))
	t.Cleanup(func() {
		c.Kubectl(t, "delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", namespace, "--ignore-not-found")
	})
}

// TestNamespaceThatMayNotBeDeleted (API-024).
func TestNamespaceThatMayNotBeDeleted(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	d := examine(t, c.Config(), Options{}, "kube-system", subject{"namespaces/kube-system", ""},
		subject{"namespaces/kube-node-lease", ""})
	wantCauses(t, d, map[string][]string{
		"Namespace/kube-system":     {"DeletionRejected Namespace/kube-system"},
		"Namespace/kube-node-lease": {"NotDeleting Namespace/kube-node-lease"},
	})
	wantEvidence(t, d.Stuck[0].Causes[0], "this namespace may not be deleted")
}

// TestWebhookDenies: a webhook that answers, on either operation.
func TestWebhookDenies(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := heldConfigMap(t, c, ns)
	client := answering(t, func(map[string]any) (string, []map[string]any) {
		return `not today: failed calling webhook "of-somebody-else"`, nil
	})
	registered(t, c, "validating", ns, webhook("Validating", ns, "UPDATE", client), fails(c, append(label, ns)...))
	d := examine(t, c.Config(), Options{Known: operator}, ns)
	wantCauses(t, d, map[string][]string{"ConfigMap/cm": {"AdmissionDenied ValidatingWebhookConfiguration/" + ns}})
	wantEvidence(t, d.Stuck[0].Causes[0], "not today")
	typed(t, c, last(d.Stuck[0].Causes[0]))
	letGo(t, c, ns, "configmap/cm")
}

// TestWebhookDeniesWithAConflict, as those do that protect what is in use; a conflict is not taken
// for one with another object. A webhook that answers is at work, and its configuration is not to
// be deleted.
func TestWebhookDeniesWithAConflict(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "cm"))
	client := answering(t, func(map[string]any) (string, []map[string]any) { return "409 it is in use", nil })
	remove := []string{"delete", "configmap", "cm", "-n", ns}
	registered(t, c, "validating", ns, webhook("Validating", ns, "DELETE", client),
		fails(c, append(remove, "--dry-run=server")...))
	d := examine(t, c.Config(), Options{}, ns, subject{"configmaps/cm", ns})
	wantCauses(t, d, map[string][]string{"ConfigMap/cm": {"AdmissionDenied ValidatingWebhookConfiguration/" + ns}})
	wantEvidence(t, d.Stuck[0].Causes[0], "it is in use")
	wantNoWebhookDeleted(t, d.Stuck[0].Causes[0])
	typed(t, c, last(d.Stuck[0].Causes[0]))
	if !fails(c, remove...)(t.Context()) {
		t.Error("the webhook does not protect it any more")
	}
}

// TestFinalizerIsPutBack_API033 by a mutating webhook: the server accepts the patch and nothing
// changes.
func TestFinalizerIsPutBack_API033(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := heldConfigMap(t, c, ns)
	client := answering(t, func(map[string]any) (string, []map[string]any) {
		return "", []map[string]any{
			{"op": "add", "path": "/metadata/finalizers", "value": []string{"example.com/held"}},
			{"op": "add", "path": "/metadata/labels", "value": map[string]string{"called": "yes"}},
		}
	})
	registered(t, c, "mutating", ns, webhook("Mutating", ns, "UPDATE", client), func(ctx context.Context) bool {
		out, _ := c.Command(ctx, "patch", "configmap", "cm", "-n", ns, "-p", `{"data":{"try":"me"}}`, "--dry-run=server",
			"-o", "jsonpath={.metadata.labels.called}").Output()
		return string(out) == "yes"
	})
	d := examine(t, c.Config(), Options{Known: operator}, ns)
	wantCauses(t, d, map[string][]string{"ConfigMap/cm": {"FinalizerPutBack MutatingWebhookConfiguration/" + ns}})
	if f := d.Stuck[0].Causes[0].Finalizer; f != "example.com/held" {
		t.Errorf("it is about the finalizer %q", f)
	}
	typed(t, c, last(d.Stuck[0].Causes[0]))
	letGo(t, c, ns, "configmap/cm")
}

// TestObjectIsNoLongerValid: its schema was made stricter after it was created. Corrected with the
// printed command, it can be let go.
func TestObjectIsNoLongerValid(t *testing.T) {
	// It takes more than 10 s beside others: a definition is changed, and the server takes a while
	// to serve each change.
	t.Parallel()
	c := withTypes(t)
	ns := c.Namespace(t)
	operator := operated(t, c, ns)
	group := "b07a.example.com"
	definition := func(required string) string {
		return fmt.Sprintf(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, required: [%[2]s], properties: {size: {type: integer}}}}}]
`, group, required)
	}
	c.Apply(t, definition(""))
	t.Cleanup(func() { c.Kubectl(t, "delete", "crd", "widgets."+group, "--wait=false") })
	until(t, c, "widgets", "api-resources", "--api-group="+group)
	c.Apply(t, fmt.Sprintf(
		"apiVersion: %s/v1\nkind: Widget\nmetadata: {name: w, namespace: %s, finalizers: [example.com/held]}\n", group, ns))
	object := "widgets." + group + "/w"
	fixture.Free(t, c, ns, object)
	deleted(t, c, object, "-n", ns)
	c.Apply(t, definition("size"))
	testcluster.Eventually(t, "the schema is in force", func(ctx context.Context) (bool, error) {
		return fails(c, "patch", object, "--type=merge", "-p", `{"metadata":{"labels":{"try":"me"}}}`, "--dry-run=server",
			"-n", ns)(ctx), nil
	})
	d := examine(t, c.Config(), Options{Known: operator}, ns)
	wantCauses(t, d, map[string][]string{"Widget/w": {"ObjectInvalid Widget/w"}})
	wantEvidence(t, d.Stuck[0].Causes[0], "size: Required value")
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\necho 'size: 1' >> \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	typed(t, c, last(d.Stuck[0].Causes[0]), editor)
	letGo(t, c, ns, object)
}

// TestMutatingWebhookSpoilsThePatch: a pod that a Job tracks, whose finalizer nobody can take off
// because a webhook changes immutable fields of pods on every update.
func TestMutatingWebhookSpoilsThePatch(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.Lease(ns, "operator", "me", time.Now()))
	tracking := fixture.Pack(t, workloads.JobFinalizer, fmt.Sprintf("leases: ['%s/operator']", ns))
	c.Apply(t, fmt.Sprintf(
		"---\napiVersion: v1\nkind: Pod\nmetadata: {name: pod, namespace: %s, finalizers: [%s]}\nspec: {containers: [{name: c, image: example.com/c}]}\n", ns, workloads.JobFinalizer))
	fixture.Free(t, c, ns, "pod/pod")
	deleted(t, c, "pod", "pod", "-n", ns)
	client := answering(t, func(map[string]any) (string, []map[string]any) {
		return "", []map[string]any{{"op": "add", "path": "/spec/containers/0/resources",
			"value": map[string]any{"requests": map[string]string{"cpu": "1"}}}}
	})
	registered(t, c, "mutating", ns, webhook("Mutating", ns, "UPDATE", client),
		fails(c, "label", "pod", "pod", "try=me", "--dry-run=server", "-n", ns))
	d := examine(t, c.Config(), Options{Known: tracking}, ns)
	wantCauses(t, d, map[string][]string{"Pod/pod": {"ObjectInvalid Pod/pod"}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, "spec: Forbidden")
	wantEvidence(t, cause, "webhook mutating.example.com of MutatingWebhookConfiguration "+ns+
		" is called for UPDATE of pods, and may change these fields on the way")
	typed(t, c, cause.Commands[0])
	letGo(t, c, ns, "pod/pod")
}

// TestOperatorAndWebhookAreUninstalled: the objects' finalizers have no operator left, and its
// webhook is still registered and denies their removal. Both are said, the webhook first.
func TestOperatorAndWebhookAreUninstalled(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	var manifest strings.Builder
	want := map[string][]string{}
	args := []string{"configmap", "-n", ns}
	for i := range 29 {
		name := fmt.Sprintf("object-%d", i)
		manifest.WriteString(fixture.ConfigMap(ns, name, "example.com/held"))
		args = append(args, name)
		fixture.Free(t, c, ns, "configmap/"+name)
		want["ConfigMap/"+name] = []string{"AdmissionWebhookDown ValidatingWebhookConfiguration/" + ns,
			"FinalizerActorNotFound ConfigMap/" + name}
	}
	c.Apply(t, manifest.String())
	deleted(t, c, args...)
	registered(t, c, "validating", ns, webhook("Validating", ns, "UPDATE", toService(ns)),
		fails(c, "label", "configmap", "object-0", "try=me", "--dry-run=server", "-n", ns))
	d := examine(t, c.Config(), Options{Known: fixture.Pack(t, "example.com/held",
		fmt.Sprintf("deployments: ['%s/operator']", ns))}, ns)
	wantCauses(t, d, want)
	if first, then := d.Stuck[0].Causes[0].After, d.Stuck[0].Causes[1].After; first != 0 || then != 1 {
		t.Errorf("the webhook comes up after %d others and the operator after %d, want 0 and 1", first, then)
	}
	typed(t, c, last(d.Stuck[0].Causes[0]))
	if want := "kubectl gc unfinalize configmaps/object-0 -n " + ns +
		" --finalizer example.com/held --force"; last(stuckOf(t, d, "object-0").Causes[1]) != want {
		t.Errorf("the second command is %q, want %q", last(stuckOf(t, d, "object-0").Causes[1]), want)
	}
	letGo(t, c, ns, "configmap/object-0")
}
