package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// heldClaim is a claim that a finalizer holds, and its volume, which is kept; NS is the namespace.
const heldClaim = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: NS-volume}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: manual
  hostPath: {path: /nowhere}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: NS, finalizers: [example.com/hold]}
spec: {storageClassName: manual, volumeName: NS-volume, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// TestAClaimThatIsRescuedIsBoundToItsVolume: the volume names the claim by its uid, and gets that
// of the new one.
func TestAClaimThatIsRescuedIsBoundToItsVolume(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "restore", testcluster.Controllers(restoring...))
	s := shop{c, c.Namespace(t), "", ""}
	volume := s.namespace + "-volume"
	c.Apply(t, strings.ReplaceAll(heldClaim, "NS", s.namespace))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_, _ = c.Try(ctx, "", "patch", "pvc", "data", "-n", s.namespace, "--type=merge", "-p",
			`{"metadata":{"finalizers":null}}`)
		_, _ = c.Try(ctx, "", "delete", "pv", volume, "--wait=false")
	})
	bound := func(context.Context) (bool, error) {
		claim := c.Kubectl(t, "get", "pvc", "data", "-n", s.namespace, "-o",
			"jsonpath={.metadata.uid} {.status.phase} {.metadata.deletionTimestamp}")
		return claim == c.Kubectl(t, "get", "pv", volume, "-o", "jsonpath={.spec.claimRef.uid} {.status.phase}")+" ", nil
	}
	testcluster.Eventually(t, "the claim is bound", bound)
	old := c.Kubectl(t, "get", "pvc", "data", "-n", s.namespace, "-o", "jsonpath={.metadata.uid}")
	c.Kubectl(t, "delete", "pvc", "data", "-n", s.namespace, "--wait=false")
	out := s.gc(t, 0, "rescue", "pvc/data", "-n", s.namespace, "--force", "-y", "--archive",
		filepath.Join(t.TempDir(), "claim.yaml"))
	testcluster.Eventually(t, "the new claim is bound", bound)
	if now := c.Kubectl(t, "get", "pvc", "data", "-n", s.namespace, "-o", "jsonpath={.metadata.uid}"); now == old {
		t.Errorf("it is still the old claim:\n%s", out)
	}
}
