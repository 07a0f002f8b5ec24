package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestReadyPodsOfWhichNoneLeads: the pod that took the Lease runs, and gave it up hours ago, as
// kube-controller-manager did in kubernetes/kubernetes#82960. Where the pod is another, or renews a
// Lease of its own, nothing says that it does not lead.
func TestReadyPodsOfWhichNoneLeads(t *testing.T) {
	t.Parallel()
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d).UTC() }
	const hours, renewed = 3 * time.Hour, time.Second
	for _, tt := range []struct {
		says          string
		started       time.Duration
		leases        map[string]time.Duration
		named, unless bool
		// other says that another workload of the same program is ready, and has no Lease.
		other bool
		want  string
	}{
		{"it gave its Lease up", 5 * time.Hour, map[string]time.Duration{"op": hours, "other": renewed}, true, false,
			false, "ActorNotLeading"},
		{"another of the program may work without one", 5 * time.Hour, map[string]time.Duration{"op": hours}, true, true,
			true, "FinalizerActorAlive"},
		{"it was started later", time.Hour, map[string]time.Duration{"op": hours}, true, true, false, "FinalizerActorAlive"},
		{"it gave a Lease up that nobody knows", 5 * time.Hour, map[string]time.Duration{"op": hours}, false, true,
			false, "FinalizerActorAlive"},
		{"it renews another that nobody knows", 5 * time.Hour, map[string]time.Duration{"op": hours, "other": renewed},
			false, false, false, "FinalizerActorAlive"},
		{"it gave it up a moment ago", 5 * time.Hour, map[string]time.Duration{"op": 5 * time.Minute}, true, false,
			false, "FinalizerActorAlive"},
	} {
		t.Run(tt.says, func(t *testing.T) {
			t.Parallel()
			c := testcluster.Shared(t)
			ns := c.Namespace(t)
			permit(t, c, ns)
			known, pod := operator(t, c, ns, "", 1), opOf(ns)+"-6bd66b76dd-xt77t"
			if tt.named {
				known = fixture.Pack(t, bucket, fmt.Sprintf("deployments: ['%s/*'], leases: ['%[1]s/op']", ns))
			}
			if tt.other {
				c.Apply(t, strings.Replace(fixture.Deployment(ns, "second", 1), "spec: {containers:",
					"spec: {serviceAccountName: op, containers:", 1))
				c.Kubectl(t, "patch", "deployment", "second", "-n", ns, "--subresource=status", "--type=merge", "-p",
					`{"status":{"replicas":1,"readyReplicas":1}}`)
			}
			c.Apply(t, fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: %s, labels: {app: %s}}, "+
				"spec: {containers: [{name: c, image: example.com/c}]}}", pod, ns, opOf(ns)))
			c.Kubectl(t, "patch", "pod", pod, "-n", ns, "--subresource=status", "--type=merge", "-p",
				fmt.Sprintf(`{"status":{"phase":"Running","startTime":%q}}`, ago(tt.started).Format(time.RFC3339)))
			for name, at := range tt.leases {
				c.Apply(t, fixture.Lease(ns, name, pod+"_5b0f", ago(at)))
			}
			d := stuckOn(t, c, ns, bucket, known, "")
			wantCauses(t, d, map[string][]string{"ConfigMap/it": {tt.want + " ConfigMap/it"}})
			cause := d.Stuck[0].Causes[0]
			if tt.want != "ActorNotLeading" {
				if says := strings.Contains(cause.Remedy, "by its Lease none of them leads"); says != tt.unless {
					t.Errorf("the remedy is %q", cause.Remedy)
				}
				return
			}
			wantEvidence(t, cause, fmt.Sprintf("Lease %s/op was renewed last 3 h ago, by %s_5b0f, whose pod still exists", ns, pod))
			wantRemedy(t, cause, fmt.Sprintf("Find out by its log why Pod %s/%s no longer renews Lease %[1]s/op", ns, pod))
			wantSteps(t, cause, fmt.Sprintf("kubectl logs pods/%s -n %s --all-containers", pod, ns),
				fmt.Sprintf("kubectl rollout restart deployments.apps/%s -n %s", opOf(ns), ns),
				fmt.Sprintf("kubectl gc unfinalize configmaps/it -n %s --finalizer %s --force", ns, bucket))
		})
	}
}
