package diagnose

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// provisionerFinalizer keeps a PersistentVolume until its provisioner has deleted the disk
// (https://github.com/kubernetes-sigs/sig-storage-lib-external-provisioner/blob/7b865eb94e23/controller/controller.go#L89).
const provisionerFinalizer = "external-provisioner.volume.kubernetes.io/finalizer"

// provisioned returns who should delete the disk of a PersistentVolume. With the reclaim policy Retain nobody does, be the provisioner alive or not.
func (e *storage) provisioned(ctx context.Context, id graph.ID, name string) []finding {
	findings := e.byActor(ctx, id, name)
	o := e.own(ctx, id)
	if o == nil || status.Disk(o).Destroyed() {
		return findings
	}
	findings = withEvidence(findings, observedAt(from(o, "spec.persistentVolumeReclaimPolicy"), "its reclaim policy is Retain: the provisioner does nothing with such a volume")...)
	for i, f := range findings {
		if !slices.Contains([]Code{FinalizerActorAlive, FinalizerActorDead, FinalizerActorNotFound, FinalizerActorUnknown}, f.code) {
			continue
		}
		findings[i].remedy = "The provisioner does nothing with a volume whose reclaim policy is Retain: neither waiting for it nor starting it helps. Note the handle of the disk, then remove the finalizer by hand: the disk stays."
		findings[i].cost = fmt.Sprintf("The disk of PersistentVolume %s stays, as its reclaim policy says, and nothing in the cluster names it.", o.GetName())
		show := command("kubectl", "get", "OBJECT", "-o", "yaml").doing("shows the handle of the disk").risking(finalizer.RiskNone)
		findings[i].commands = append([]step{show}, f.commands[max(len(f.commands)-1, 0):]...) // the last removes the finalizer
	}
	return findings
}
