package testcluster

import (
	"context"
	"fmt"
	"testing"
)

const puttingBack = `apiVersion: admissionregistration.k8s.io/%[2]s
kind: MutatingAdmissionPolicy
metadata: {name: puts-back-%[1]s}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [configmaps, namespaces/finalize], operations: [UPDATE]}
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >
        (has(oldObject.metadata.ownerReferences) ? [JSONPatch{op: "add", path: "/metadata/ownerReferences", value: oldObject.metadata.ownerReferences}] : []) +
        (has(oldObject.metadata.finalizers) ? [JSONPatch{op: "add", path: "/metadata/finalizers", value: oldObject.metadata.finalizers}] : []) +
        (has(oldObject.spec) && has(oldObject.spec.finalizers) ? [JSONPatch{op: "add", path: "/spec/finalizers", value: oldObject.spec.finalizers}] : [])
---
apiVersion: admissionregistration.k8s.io/%[2]s
kind: MutatingAdmissionPolicyBinding
metadata: {name: puts-back-%[1]s}
spec: {policyName: puts-back-%[1]s}
`

// PutBack has the server put back what updates remove, until the end of the test: the references
// and finalizers of the config maps of a namespace, and the namespace's own. It returns the name of
// the policy that does it. The namespace must not be being deleted.
func (c *Cluster) PutBack(t testing.TB, namespace string) string {
	t.Helper()
	c.Apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: probe, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: nobody, uid: nobody}]}}", "-n", namespace)
	name, version := "puts-back-"+namespace, "v1"
	if c.Command(t.Context(), "get", "mutatingadmissionpolicies.v1.admissionregistration.k8s.io").Run() != nil {
		version = "v1beta1" // before 1.36, where test/minor turns it on
	}
	c.Apply(t, fmt.Sprintf(puttingBack, namespace, version))
	t.Cleanup(func() { c.Kubectl(t, "delete", "mutatingadmissionpolicybinding,mutatingadmissionpolicy", name) })
	Eventually(t, "the policy to be in force", func(ctx context.Context) (bool, error) {
		out, err := c.Command(ctx, "patch", "configmap", "probe", "-n", namespace, "--dry-run=server", "--type=merge",
			"-p", `{"metadata":{"ownerReferences":null}}`, "-o", "jsonpath={.metadata.ownerReferences}").Output()
		return err == nil && len(out) > 0, nil
	})
	c.Kubectl(t, "delete", "configmap", "probe", "-n", namespace)
	return name
}
