package rescue_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/rescue"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestTimedOutWhileTheObjectIsStillThere: a pod that no kubelet stops. It is not created again, its
// dependent lives without its reference, and a second run goes on when the pod is gone.
func TestTimedOutWhileTheObjectIsStillThere(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "collector off", testcluster.NoControllers())
	namespace, file := c.Namespace(t), filepath.Join(t.TempDir(), "pod.yaml")
	c.Apply(t, `{apiVersion: v1, kind: Pod, metadata: {name: slow, namespace: `+namespace+`, finalizers: [`+hold+`]},
  spec: {nodeName: nowhere, automountServiceAccountToken: false, terminationGracePeriodSeconds: 3600, containers: [{name: c, image: example.com/c}]}}`)
	uid := c.Kubectl(t, "get", "pod", "slow", "-n", namespace, "-o", "jsonpath={.metadata.uid}")
	c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: child, namespace: `+namespace+
		`, ownerReferences: [{apiVersion: v1, kind: Pod, name: slow, uid: `+uid+`}]}}`)
	c.Kubectl(t, "delete", "pod", "slow", "-n", namespace, "--wait=false")
	run := func() *rescue.Outcome {
		config, client, catalog := fixture.ConnectFlags(t, c.Kubeconfig())
		q, err := selection.NewQuery(t.Context(), config, client, catalog,
			selection.Request{Namespace: namespace, Args: []string{"pod/slow"}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := rescue.Plan(t.Context(), q, fixture.Packs(t), rescue.Request{Archive: file, Overrides: force, DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		return rescue.Perform(t.Context(), q, fixture.Packs(t), p,
			rescue.Options{Timeout: 2 * time.Second})
	}
	owner := func() string {
		return c.Kubectl(t, "get", "configmap", "child", "-n", namespace, "-o", "jsonpath={.metadata.ownerReferences[*].uid}")
	}
	out := run()
	if !answer.IsRefusal(out.Err) || !strings.Contains(out.Err.Error(), "timed out") || len(out.Remaining) != 1 ||
		out.Remaining[0].Because != "its grace period is pending" {
		t.Errorf("%v, remaining %v", out.Err, out.Remaining)
	}
	if !strings.Contains(answer.Hint(out.Err), "--archive "+file) {
		t.Errorf("the hint is %q", answer.Hint(out.Err))
	}
	if got := owner(); got != "" {
		t.Errorf("the dependent has the owner %q", got)
	}
	c.Kubectl(t, "delete", "pod", "slow", "-n", namespace, "--force", "--grace-period=0")
	if out := run(); out.Err != nil {
		t.Fatal(out.Err)
	}
	if now := c.Kubectl(t, "get", "pod", "slow", "-n", namespace, "-o", "jsonpath={.metadata.uid}"); now == uid ||
		owner() != now {
		t.Errorf("the pod has the uid %s, had %s, and the dependent names %s", now, uid, owner())
	}
	c.Kubectl(t, "patch", "pod", "slow", "-n", namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	c.Kubectl(t, "delete", "pod", "slow", "-n", namespace, "--force", "--grace-period=0")
}
