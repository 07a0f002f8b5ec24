package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
)

// TestAConditionOfANewerClusterAPISaysWhatItWaitsFor: a Cluster has it in
// status.v1beta2.conditions, behind eight others that fail, and it is the first that is said.
func TestAConditionOfANewerClusterAPISaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	c := withPlatforms(t)
	ns := c.Namespace(t)
	var others strings.Builder
	for _, of := range []string{"Available", "RemoteConnectionProbeReady", "InfrastructureReady",
		"ControlPlaneInitialized", "ControlPlaneAvailable", "WorkersAvailable", "WorkerMachinesReady"} {
		fmt.Fprintf(&others, "    - {type: %[1]s, status: 'False', reason: NotReady, message: 'cannot tell: %[1]s'}\n", of)
	}
	c.Apply(t, fmt.Sprintf(`apiVersion: cluster.x-k8s.io/v1
kind: Cluster
metadata: {name: prod, namespace: %s, finalizers: [cluster.cluster.x-k8s.io]}
spec: {}
status:
  conditions:
  - {type: ControlPlaneInitialized, status: 'False', reason: MissingNodeRef, severity: Info, message: Waiting for the first machine}
  v1beta2:
    conditions:
%s    - type: Deleting
      status: 'True'
      reason: WaitingForWorkersDeletion
      message: |-
        * MachineDeployments: workers
        * Worker Machines: workers-1, workers-2
`, ns, others.String()))
	fixture.Free(t, c, ns, "cluster/prod")
	deleted(t, c, "cluster/prod", "-n", ns)
	d := examine(t, c.Config(), Options{}, ns, subject{"clusters.cluster.x-k8s.io/prod", ns})
	wantCauses(t, d, map[string][]string{"Cluster/prod": {"FinalizerActorNotFound Cluster/prod"}})
	first := d.Stuck[0].Causes[0].Observations[0]
	if want := "its condition Deleting is True (WaitingForWorkersDeletion): * MachineDeployments: workers * Worker Machines: workers-1, workers-2"; first.Says != want {
		t.Errorf("the evidence begins with %q, want %q", first.Says, want)
	}
	if want := "Cluster " + ns + "/prod status.v1beta2.conditions[Deleting]"; first.From != want {
		t.Errorf("it is from %q, want %q", first.From, want)
	}
}
