package actor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAWorkloadIsDeadOnlyAfterTenMinutesWithoutAReadyPod: what may be starting is no witness, by
// its conditions, its age and its pods, whichever is the youngest.
func TestAWorkloadIsDeadOnlyAfterTenMinutesWithoutAReadyPod(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	conditions := func(available string, ago time.Duration, more string) func(*testing.T, string) {
		at := time.Now().Add(-ago).UTC().Format(time.RFC3339)
		return func(t *testing.T, ns string) {
			setStatus(t, c, "deployment", ns, ns,
				fmt.Sprintf(
					`{"replicas":1,%s"conditions":[{"type":"Available","status":%q,"lastTransitionTime":%q},{"type":"Progressing","status":"True","lastTransitionTime":%q}]}`,
					more, available, at, at))
		}
	}
	deployment := func(t *testing.T, ns string) { c.Apply(t, fixture.Deployment(ns, ns, 1)) }
	pod := func(ready string, ago time.Duration) func(*testing.T, string) {
		return func(t *testing.T, ns string) {
			name := fmt.Sprintf("pod-%d", ago)
			c.Apply(t, fmt.Sprintf(
				"apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: %s, labels: {app: %[2]s}}\nspec: {containers: [{name: c, image: example.com/c}]}\n", name, ns))
			setStatus(t, c, "pod", ns, name,
				fmt.Sprintf(`{"conditions":[{"type":"Ready","status":%q,"lastTransitionTime":%q}]}`, ready,
					time.Now().Add(-ago).UTC().Format(time.RFC3339)))
		}
	}
	newPod := func(t *testing.T, ns string) {
		c.Apply(t, fmt.Sprintf(
			"apiVersion: v1\nkind: Pod\nmetadata: {name: new, namespace: %s, labels: {app: %[1]s}}\nspec: {containers: [{name: c, image: example.com/c}]}\n", ns))
	}
	of := func(kind, spec string) func(*testing.T, string) {
		return func(t *testing.T, ns string) {
			c.Apply(t, fmt.Sprintf(`apiVersion: apps/v1
kind: %s
metadata: {name: %s, namespace: %[2]s}
spec: {%s selector: {matchLabels: {app: %[2]s}}, template: {metadata: {labels: {app: %[2]s}}, spec: {containers: [{name: c, image: example.com/c}]}}}
`, kind, ns, spec))
		}
	}
	written := func(ago time.Duration) func(*testing.T, string) {
		return func(t *testing.T, ns string) {
			c.Kubectl(t, "patch", "daemonset", ns, "-n", ns, "--type=merge", "-p", fmt.Sprintf(
				`{"metadata":{"managedFields":[{"manager":"kubelite","operation":"Update","subresource":"status","apiVersion":"apps/v1","time":%q,"fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:desiredNumberScheduled":{}}}}]}}`,
				time.Now().Add(-ago).UTC().Format(time.RFC3339)))
		}
	}
	forgotten := func(t *testing.T, ns string) {
		c.Kubectl(t, "patch", "daemonset", ns, "-n", ns, "--type=merge", "-p", `{"metadata":{"managedFields":[{}]}}`)
	}
	nowhere := func(conditions string) func(*testing.T, string) {
		return func(t *testing.T, ns string) {
			setStatus(t, c, "daemonset", ns, ns, `{"observedGeneration":1,"desiredNumberScheduled":0,"conditions":[`+conditions+`]}`)
		}
	}
	anHour := fmt.Sprintf(`{"type":"Available","status":"True","lastTransitionTime":%q}`,
		time.Now().Add(-time.Hour).UTC().Format(time.RFC3339))
	for _, test := range []struct {
		name     string
		signs    string
		make     []func(t *testing.T, ns string)
		life     Life
		evidence string
	}{
		{"made a second ago, without a status", "deployments: [NS/NS]", steps(deployment), Unknown,
			"has none of 1 pod ready: starting for "},
		{"not available for 2 seconds", "deployments: [NS/NS]", steps(deployment, conditions("False", 2*time.Second, "")),
			Unknown, "has none of 1 pod ready: not ready for "},
		{"not available for three minutes", "deployments: [NS/NS]",
			steps(deployment, conditions("False", 3*time.Minute+5*time.Second, "")), Unknown, "not ready for 3 min"},
		{"not available for 11 minutes", "deployments: [NS/NS]",
			steps(deployment, conditions("False", 11*time.Minute+5*time.Second, "")), Dead, "has had no ready pod for 11 min"},
		{"not available for an hour, with a new pod", "deployments: [NS/NS]",
			steps(deployment, conditions("False", time.Hour, ""), pod("False", time.Hour), newPod), Unknown, "starting for "},
		{"not available for an hour, with a pod that was ready a minute ago", "deployments: [NS/NS]",
			steps(deployment, conditions("False", time.Hour, ""), pod("False", time.Minute)), Unknown, "not ready for "},
		{"not available for an hour, and its pods neither", "deployments: [NS/NS]",
			steps(deployment, conditions("False", 3*time.Hour, ""), pod("False", 2*time.Hour+time.Minute)), Dead,
			"has had no ready pod for 2 h"},
		{"a pod is ready, and the status does not say so yet", "deployments: [NS/NS]",
			steps(deployment, conditions("False", time.Hour, ""), pod("True", time.Second)), Alive, "is ready"},
		{"changed, and the change was not acted on", "deployments: [NS/NS]",
			steps(deployment, conditions("False", time.Hour, `"observedGeneration":1,`),
				func(t *testing.T, ns string) { c.Apply(t, fixture.Deployment(ns, ns, 2)) }), Unknown,
			"its controller has not acted on its last change"},
		{"its status says that enough pods are available", "deployments: [NS/NS]",
			steps(deployment, conditions("True", time.Hour, "")), Unknown, "has none of 1 pod ready"},
		{"stale lease, and not available for a minute", "deployments: [NS/NS], leases: [NS/NS]",
			steps(deployment, conditions("False", time.Minute, ""), func(t *testing.T, ns string) {
				c.Apply(t, fixture.Lease(ns, ns, "op-1", time.Now().Add(-3*time.Hour)))
			}), Unknown, "was renewed last 3 h ago"},
		{"a StatefulSet that was just made", "statefulSets: [NS/NS]", steps(of("StatefulSet", "replicas: 1,")), Unknown,
			"starting for "},
		{"a DaemonSet that no node is meant for", "daemonSets: [NS/NS]", steps(of("DaemonSet", "")), Unknown,
			"is meant for no node"},
		{"a DaemonSet that no node is meant for, as its controller saw", "daemonSets: [NS/NS]",
			steps(of("DaemonSet", ""), nowhere(""), written(time.Minute)), Unknown, "is meant for no node: starting for "},
		{"a DaemonSet that no node is meant for, as its controller saw an hour ago", "daemonSets: [NS/NS]",
			steps(of("DaemonSet", ""), nowhere(anHour), written(time.Hour)), Dead,
			"is meant for no node, and has worked nowhere for 60 min"},
		{"a DaemonSet that no node is meant for, and nobody knows since when", "daemonSets: [NS/NS]",
			steps(of("DaemonSet", ""), nowhere(anHour), forgotten), Unknown, "is meant for no node"},
		{"a DaemonSet that no node is meant for since a moment", "daemonSets: [NS/NS]",
			steps(of("DaemonSet", ""), nowhere(anHour), written(time.Hour), func(t *testing.T, ns string) {
				c.Kubectl(t, "patch", "daemonset", ns, "-n", ns, "--subresource=status", "--type=merge",
					"--field-manager=k3s", "-p", `{"status":{"numberMisscheduled":1}}`)
			}), Unknown, "is meant for no node: idle for "},
		{"one of several workloads, which no node is meant for", "daemonSets: [NS/NS], deployments: [NS/other]",
			steps(of("DaemonSet", ""), nowhere(anHour)), Unknown, "is meant for no node"},
		{"a pod without a workload, ready", "labels: [app=NS]", steps(pod("True", time.Second)), Alive, "is ready"},
		{"a pod without a workload, not ready for a minute", "labels: [app=NS]", steps(pod("False", time.Minute)), Unknown,
			"is not ready: not ready for "},
		{"a pod without a workload, new", "labels: [app=NS]", steps(newPod), Unknown, "starting for "},
		{"a pod without a workload, not ready for an hour", "labels: [app=NS]", steps(pod("False", 3*time.Hour)), Dead,
			"has not been ready for 3 h"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ns := c.Namespace(t)
			for _, do := range test.make {
				do(t, ns)
			}
			a := actorOf(t, c, fixture.Pack(t, "example.com/bucket", inNamespace(test.signs, ns)), "example.com/bucket", nil)
			wantActor(t, a, test.life, inNamespace(test.evidence, ns))
			if !a.Found {
				t.Error("it was not found")
			}
		})
	}
}

// TestAPodOfAFileWithoutTimesIsNoWitnessOfDeath has what a server always writes left out, as people
// do who keep manifests.
func TestAPodOfAFileWithoutTimesIsNoWitnessOfDeath(t *testing.T) {
	t.Parallel()
	pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "operator", "namespace": "ops"}}}
	sign := (&search{Finder: &Finder{now: time.Now}}).assessPod(pod)
	if sign.Life != Unknown || !sign.starting || !strings.HasSuffix(sign.Says, "is not ready: since when is not known") {
		t.Errorf("%v, starting %t: %s", sign.Life, sign.starting, sign.Says)
	}
}
