package rescue_test

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/rescue"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestAClaimWhoseDiskWouldBeDestroyedNeedsForce: to free the claim is to delete it.
func TestAClaimWhoseDiskWouldBeDestroyedNeedsForce(t *testing.T) {
	t.Parallel()
	c := testcluster.Another(t, "collector off", testcluster.NoControllers())
	namespace := c.Namespace(t)
	c.Apply(t, `{apiVersion: v1, kind: PersistentVolume, metadata: {name: disk-`+namespace+`}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce],
  persistentVolumeReclaimPolicy: Delete, hostPath: {path: /disk}, claimRef: {namespace: `+namespace+`, name: data}}}`)
	c.Apply(t, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: `+namespace+`, finalizers: [`+hold+`]},
  spec: {accessModes: [ReadWriteOnce], volumeName: disk-`+namespace+`, storageClassName: "", resources: {requests: {storage: 1Gi}}}}`)
	c.Kubectl(t, "delete", "pvc", "data", "-n", namespace, "--wait=false")
	t.Cleanup(func() {
		c.Kubectl(t, "patch", "pvc", "data", "-n", namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		c.Kubectl(t, "patch", "pv", "disk-"+namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		c.Kubectl(t, "delete", "pv", "disk-"+namespace)
	})
	config, client, catalog := fixture.ConnectFlags(t, c.Kubeconfig())
	for _, overrides := range []unfinalize.Overrides{{}, force} {
		q, err := selection.NewQuery(t.Context(), config, client, catalog,
			selection.Request{Namespace: namespace, Args: []string{"pvc/data"}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := rescue.Plan(t.Context(), q, fixture.Packs(t), rescue.Request{Overrides: overrides})
		if err != nil {
			t.Fatal(err)
		}
		destroys := func(r unfinalize.Refusal) bool { return r.Code == unfinalize.DataLoss }
		if slices.ContainsFunc(p.Against(), destroys) == overrides.Force || !slices.ContainsFunc(p.Refusals, destroys) {
			t.Errorf("%+v: against it is %v", overrides, p.Against())
		}
	}
}
