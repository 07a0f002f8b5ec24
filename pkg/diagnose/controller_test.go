package diagnose

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWebhookOfTheCollectorsUpdatesIsDown: the collector is not to blame for what nobody could
// write. That nothing blocks an owner any more can be said to the server by a DELETE, which no
// webhook for updates is called for.
func TestWebhookOfTheCollectorsUpdatesIsDown(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "cm")+fixture.ConfigMap(ns, "orphaning")+nobodyBehind(ns))
	owned(t, c, ns, "kept", "orphaning", true)
	registered(t, c, "validating", ns, webhook("Validating", ns, "UPDATE", toService(ns)), fails(c, append(label, ns)...))
	deleted(t, c, "configmap", "cm", "-n", ns, "--cascade=foreground")
	deleted(t, c, "configmap", "orphaning", "-n", ns, "--cascade=orphan")
	d := examine(t, c.Config(), Options{}, ns)
	down := []string{"AdmissionWebhookDown ValidatingWebhookConfiguration/" + ns}
	wantCauses(t, d, map[string][]string{"ConfigMap/cm": down, "ConfigMap/orphaning": down})
	wantSteps(t, stuckOf(t, d, "cm").Causes[0], "kubectl scale deployments.apps/hook -n "+ns+" --replicas=1",
		"kubectl gc delete configmaps/cm -n "+ns+" --cascade=background",
		"kubectl delete validatingwebhookconfigurations.admissionregistration.k8s.io/"+ns)
	if via := stuckOf(t, d, "orphaning").Causes[0].Via; via[len(via)-1].Name != "kept" {
		t.Errorf("the cause is found at %v, want the dependent", via)
	}
}

// TestNamespaceThatNobodyMayFinalize: it is empty, and a policy for the writes to its subresources
// refuses the last one.
func TestNamespaceThatNobodyMayFinalize(t *testing.T) {
	t.Parallel()
	c := withNamespaceController(t)
	ns := c.Namespace(t)
	applied(t, c, "validatingadmissionpolicy", ns, fmt.Sprintf(`---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: ["namespaces/finalize"]}]
    objectSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  validations: [{expression: "'owner' in object.metadata.labels", message: it has no label owner}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, ns))
	testcluster.Eventually(t, "the policy is enforced", func(ctx context.Context) (bool, error) {
		cmd := c.Command(ctx, "replace", "--raw", "/api/v1/namespaces/"+ns+"/finalize?dryRun=All", "-f", "-")
		cmd.Stdin = strings.NewReader(fmt.Sprintf(
			`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q,"labels":{"kubernetes.io/metadata.name":%[1]q}}}`, ns))
		out, _ := cmd.CombinedOutput()
		return strings.Contains(string(out), "it has no label owner"), nil
	})
	deleted(t, c, "namespace", ns)
	until(t, c, "All content successfully removed", "get", "namespace", ns, "-o", "yaml")
	d := examine(t, c.Config(), Options{}, "")
	stuck := stuckOf(t, d, ns)
	if got := stuck.Causes[0]; got.Code != "AdmissionDenied" || got.Object.Name != ns {
		t.Errorf("the cause is %s of %s, want the policy", got.Code, got.Object.Name)
	}
	wantEvidence(t, stuck.Causes[0], "UPDATE of namespaces/finalize is denied")
	c.Kubectl(t, "delete", "validatingadmissionpolicybinding", ns)
}
