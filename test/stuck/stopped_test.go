package stuck

import (
	"fmt"
	"strings"
	"testing"
)

// TestAStoppedControllerComesFirst asks about objects that say, or of which others show, what somebody
// waits for, while the workload of that is scaled to 0: it has to be started before anything else
// helps. While it runs it is no cause. None of them needs a server.
func TestAStoppedControllerComesFirst(t *testing.T) {
	t.Parallel()
	const going = "deletionTimestamp: '2026-01-01T00:00:00Z'"
	const sync = "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: it, namespace: a, uid: u, " + going +
		", finalizers: [resources-finalizer.argocd.argoproj.io]}, spec: {destination: {namespace: shop}}, " +
		"status: {operationState: {phase: Running, message: waiting for healthy state of apps/StatefulSet/db}}}"
	const flavor = "{apiVersion: kueue.x-k8s.io/v1beta1, kind: ResourceFlavor, metadata: {name: it, uid: u, " + going +
		", finalizers: [kueue.x-k8s.io/resource-in-use]}}\n---\n" +
		"{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: q, uid: q}, " +
		"spec: {resourceGroups: [{flavors: [{name: it}]}]}}"
	const machine = "{apiVersion: machine.sapcloud.io/v1alpha1, kind: Machine, metadata: {name: it, namespace: a, uid: u, " + going +
		", finalizers: [machine.sapcloud.io/machine-controller-manager]}, status: {conditions: [{type: Ready, status: 'False', " +
		"message: the kubelet has failed, lastTransitionTime: '2025-12-01T00:00:00Z'}]}}"
	const watched = "{apiVersion: clickhouse.altinity.com/v1, kind: ClickHouseInstallation, metadata: {name: it, namespace: a, uid: u, " +
		going + ", finalizers: [finalizer.clickhouseinstallation.altinity.com]}}"
	const workload = "{apiVersion: apps/v1, kind: %s, metadata: {name: %s, namespace: %s, uid: w, labels: {app.kubernetes.io/name: %[2]s}}, " +
		"spec: {replicas: %[4]d, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, " +
		"image: example.com/%[2]s, env: [{name: %[5]s, value: b}]}]}}}, status: {observedGeneration: 1, readyReplicas: %[4]d}}"
	type said struct{ code, says, first string }
	for name, test := range map[string]struct {
		objects          string
		kind, name, in   string
		variable         string
		stopped, running said
	}{
		"Argo CD, while a sync runs": {sync, "StatefulSet", "argocd-application-controller", "argocd", "A",
			said{"FinalizerActorDead", "is not running", "kubectl describe applications"},
			said{"ActorWaiting", "deletes nothing while a sync runs", "kubectl describe applications"}},
		"Kueue, of what is in use": {flavor, "Deployment", "kueue-controller-manager", "kueue-system", "A",
			said{"FinalizerActorDead", "is not running", "kubectl scale"},
			said{"InUse", "ClusterQueue q uses the object", "kubectl gc delete clusterqueues.kueue.x-k8s.io/q --dry-run"}},
		"what may run outside as well, and an old condition": {machine, "Deployment", "machine-controller-manager", "mcm", "A",
			said{"FinalizerActorUnknown", "Deployment mcm/machine-controller-manager is scaled to 0", "kubectl scale"},
			said{"FinalizerActorAlive", "the kubelet has failed", "kubectl describe machines"}},
		"what watches another namespace": {watched, "Deployment", "clickhouse-operator", "chop", "WATCH_NAMESPACE",
			said{"FinalizerActorUnknown", "check that the Altinity clickhouse-operator is running, and works on the object", "kubectl"},
			said{"ActorNotWatching", "watch", "kubectl"}},
	} {
		for replicas, want := range []said{test.stopped, test.running} {
			d := ofObjects(t, test.objects, fmt.Sprintf(workload, test.kind, test.name, test.in, replicas, test.variable))
			if len(d.Stuck) != 1 || len(d.Stuck[0].Causes) == 0 {
				t.Fatalf("%s, %d replicas: %+v", name, replicas, d.Stuck)
			}
			c := d.Stuck[0].Causes[0]
			text := strings.ToLower(c.Summary + c.Remedy)
			if c.Code != want.code || !strings.Contains(text, strings.ToLower(want.says)) ||
				!strings.HasPrefix(c.Commands[0], want.first) || strings.Contains(text, "not visible through the api") {
				t.Errorf("%s, %d replicas: %s: %s %s %q, want %+v", name, replicas, c.Code, c.Summary, c.Remedy, c.Commands[:1], want)
			}
		}
	}
}
