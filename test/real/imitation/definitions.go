// Package imitation is a provider of infrastructure for Cluster API that has no machines. It adds a
// finalizer to each TestCluster and TestMachine, and removes it when the object is being deleted.
// It never reports a machine as ready, so Cluster API waits for no node.
package imitation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// Group is the group of the types.
const Group = "infrastructure.cluster.x-k8s.io"

// Install defines the types TestCluster, TestMachine and TestMachineTemplate.
func Install(t testing.TB, c *testcluster.Cluster) {
	t.Helper()
	var label string
	for key, value := range beside.Contract {
		label = fmt.Sprintf("%s: %s", key, value)
	}
	var manifest strings.Builder
	for _, kind := range []string{"TestCluster", "TestMachine", "TestMachineTemplate"} {
		singular := strings.ToLower(kind)
		fmt.Fprintf(&manifest, definition, label, singular, kind)
	}
	c.Apply(t, manifest.String())
}

const definition = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[2]ss.` + Group + `
  labels: {%[1]s}
spec:
  group: ` + Group + `
  scope: Namespaced
  names: {kind: %[3]s, listKind: %[3]sList, plural: %[2]ss, singular: %[2]s}
  versions:
  - name: v1beta1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    subresources: {status: {}}
`
