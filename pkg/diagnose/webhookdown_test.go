package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWebhookWithEndpointsDoesNotAnswer: its Service is not to be brought back, as it is there.
func TestWebhookWithEndpointsDoesNotAnswer(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	operator := heldConfigMap(t, c, ns)
	c.Apply(t, fmt.Sprintf(`---
apiVersion: v1
kind: Service
metadata: {name: hook, namespace: %[1]s}
spec: {ports: [{port: 443}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: hook, namespace: %[1]s, labels: {kubernetes.io/service-name: hook}}
addressType: IPv4
ports: [{port: 443}]
endpoints: [{addresses: [192.0.2.1]}]
`, ns))
	manifest := strings.Replace(webhook("Validating", ns, "UPDATE", toService(ns)), "  sideEffects: None\n",
		"  sideEffects: None\n  timeoutSeconds: 1\n", 1)
	registered(t, c, "validating", ns, manifest, fails(c, append(label, ns)...))
	d := examine(t, c.Config(), Options{Known: operator}, ns)
	wantCauses(t, d, map[string][]string{"ConfigMap/cm": {"AdmissionWebhookDown ValidatingWebhookConfiguration/" + ns}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, "Service "+ns+"/hook has ready endpoints")
	if strings.Contains(cause.Remedy, "Restore") || !strings.Contains(cause.Remedy, "Check the logs of its pods") {
		t.Errorf("the remedy contradicts the evidence: %s", cause.Remedy)
	}
}
