package act

import (
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestProgressSaysWhatAnObjectSaysIsWrong: a condition of an object whose finalizer is waited for.
func TestProgressSaysWhatAnObjectSaysIsWrong(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: bucket, namespace: `+ns+`, finalizers: [example.com/external]}
spec:
  selector: {matchLabels: {app: bucket}}
  template: {metadata: {labels: {app: bucket}}, spec: {containers: [{name: app, image: app}]}}
`)
	c.Kubectl(t, "patch", "deployment", "bucket", "-n", ns, "--subresource=status", "--type=merge", "-p",
		`{"status":{"conditions":[{"type":"Synced","status":"False","reason":"ReconcileError","message":"cannot delete the bucket: it is not empty"}]}}`)
	client, p, points := prepare(t, c.Config(), ns, plan.Background, "deployments/bucket")
	var told record
	opts := told.options(points, true)
	var release sync.Once
	var said string
	opts.Tick = func(p Progress) {
		for _, b := range p.Blocked {
			if b.Trouble.Type == "" {
				continue
			}
			release.Do(func() {
				said = b.Trouble.Type + " " + b.Trouble.Reason + ": " + b.Trouble.Message
				c.Kubectl(t, "patch", "deployment", "bucket", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
			})
		}
	}
	result, err := Run(t.Context(), client, p, opts)
	if err != nil || len(result.Failed) != 0 {
		t.Errorf("%v, result %+v", err, result)
	}
	if want := "Synced ReconcileError: cannot delete the bucket: it is not empty"; said != want {
		t.Errorf("it said %q, want %q", said, want)
	}
}
