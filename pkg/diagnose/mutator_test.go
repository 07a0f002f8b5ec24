package diagnose

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// mutatingPolicy writes a MutatingAdmissionPolicy for updates of config maps of one namespace, and
// its binding.
func mutatingPolicy(name, namespace, expression string) string {
	return fmt.Sprintf(`---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [configmaps]}]
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[2]s}}
  reinvocationPolicy: Never
  failurePolicy: Fail
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: '%[3]s'}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s}
`, name, namespace, expression)
}

// applied applies a policy, which goes with the test.
func applied(t testing.TB, c *testcluster.Cluster, kind, name, manifest string) {
	t.Helper()
	c.Apply(t, manifest)
	t.Cleanup(func() { c.Kubectl(t, "delete", kind+"/"+name, kind+"binding/"+name, "--ignore-not-found") })
}

const putsBack = `Object{metadata: Object.metadata{finalizers: ["example.com/held"]}}`

// TestMutatingPolicyPutsAFinalizerBack_API033: the policy that is applied is named, one without a
// binding and one for other objects are not, and the printed command cures it.
func TestMutatingPolicyPutsAFinalizerBack_API033(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := heldConfigMap(t, c, ns)
	applied(t, c, "mutatingadmissionpolicy", ns, mutatingPolicy(ns, ns, putsBack))
	applied(t, c, "mutatingadmissionpolicy", "other-"+ns, mutatingPolicy("other-"+ns, "other", putsBack))
	unbound, _, _ := strings.Cut(mutatingPolicy("unbound-"+ns, ns, putsBack),
		"---\napiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicyBinding")
	applied(t, c, "mutatingadmissionpolicy", "unbound-"+ns, unbound)
	testcluster.Eventually(t, "the policy is enforced", func(ctx context.Context) (bool, error) {
		out, err := c.Command(ctx, "patch", "configmap", "cm", "-n", ns, "--dry-run=server", "--type=merge", "-p",
			`{"metadata":{"finalizers":null}}`, "-o", "jsonpath={.metadata.finalizers}").Output()
		return strings.Contains(string(out), "example.com/held"), err
	})
	d := examine(t, c.Config(), Options{Known: operator}, ns)
	wantCauses(t, d, map[string][]string{"ConfigMap/cm": {"FinalizerPutBack MutatingAdmissionPolicy/" + ns}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, "MutatingAdmissionPolicy "+ns+" is called for UPDATE of configmaps")
	wantRemedy(t, cause, "A mutating admission policy puts it back")
	typed(t, c, last(cause))
	letGo(t, c, ns, "configmap/cm")
}

// TestMutatingPolicyMakesAnObjectInvalid_API033: it is named too where every update becomes invalid
// on the way.
func TestMutatingPolicyMakesAnObjectInvalid_API033(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := heldConfigMap(t, c, ns)
	applied(t, c, "mutatingadmissionpolicy", ns,
		mutatingPolicy(ns, ns, `Object{metadata: Object.metadata{labels: Object.metadata.labels{x: "no label"}}}`))
	testcluster.Eventually(t, "the policy is enforced",
		func(ctx context.Context) (bool, error) { return fails(c, append(label, ns)...)(ctx), nil })
	d := examine(t, c.Config(), Options{Known: operator}, ns)
	wantCauses(t, d, map[string][]string{"ConfigMap/cm": {"ObjectInvalid ConfigMap/cm"}})
	wantEvidence(t, d.Stuck[0].Causes[0],
		"MutatingAdmissionPolicy "+ns+" is called for UPDATE of configmaps, and may change these fields on the way")
	typed(t, c, d.Stuck[0].Causes[0].Commands[0])
	letGo(t, c, ns, "configmap/cm")
}

// TestMutatingPolicyThatFails_API033: a policy whose mutation fails refuses every write, and the
// server does not say which kind of policy it is.
func TestMutatingPolicyThatFails_API033(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := heldConfigMap(t, c, ns)
	applied(t, c, "mutatingadmissionpolicy", ns, mutatingPolicy(ns, ns, `Object{data: {"x": object.data["missing"]}}`))
	testcluster.Eventually(t, "the policy is enforced",
		func(ctx context.Context) (bool, error) { return fails(c, append(label, ns)...)(ctx), nil })
	d := examine(t, c.Config(), Options{Known: operator}, ns)
	wantCauses(t, d, map[string][]string{"ConfigMap/cm": {"AdmissionDenied MutatingAdmissionPolicy/" + ns}})
	typed(t, c, last(d.Stuck[0].Causes[0]))
	letGo(t, c, ns, "configmap/cm")
}

// TestMutatingWebhookWithABrokenPatch: the server answers 500 and names nobody. The one webhook that
// may have given it what it cannot apply is named, and the printed command cures it.
func TestMutatingWebhookWithABrokenPatch(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := heldConfigMap(t, c, ns)
	client := answering(t, func(map[string]any) (string, []map[string]any) {
		return "", []map[string]any{{"op": "replace", "path": "/metadata/annotations/absent", "value": "x"}}
	})
	registered(t, c, "mutating", ns, webhook("Mutating", ns, "UPDATE", client),
		fails(c, "label", "configmap", "cm", "-n", ns, "a=b", "--dry-run=server", "--overwrite"))
	cause := stuckOf(t, examine(t, c.Config(), Options{Known: operator}, ns), "cm").Causes[0]
	if cause.Code != string(core.AdmissionDenied) || cause.Object.Kind != "MutatingWebhookConfiguration" ||
		!strings.Contains(strings.Join(cause.Evidence, " "), "Internal error occurred") {
		t.Fatalf("%+v", cause)
	}
	typed(t, c, last(cause))
	letGo(t, c, ns, "configmap/cm")
}
