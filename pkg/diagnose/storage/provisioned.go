package storage

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// ProvisionerFinalizer keeps a PersistentVolume until its provisioner has deleted the disk
// (https://github.com/kubernetes-sigs/sig-storage-lib-external-provisioner/blob/7b865eb94e23/controller/controller.go#L89).
const ProvisionerFinalizer = "external-provisioner.volume.kubernetes.io/finalizer"

// Provisioned returns who should delete the disk of a PersistentVolume. With the reclaim policy Retain nobody does, be the provisioner alive or not.
func (e *Examiner) Provisioned(ctx context.Context, id graph.ID, name string) []core.Finding {
	findings := e.ByActor(ctx, id, name)
	o := e.Own(ctx, id)
	if o == nil || status.Disk(o).Destroyed() {
		return findings
	}
	findings = core.WithEvidence(findings, core.ObservedAt(core.From(o, "spec.persistentVolumeReclaimPolicy"), "its reclaim policy is Retain: the provisioner does nothing with such a volume")...)
	for i, f := range findings {
		if !slices.Contains([]core.Code{core.FinalizerActorAlive, core.FinalizerActorDead, core.FinalizerActorNotFound, core.FinalizerActorUnknown}, f.Code) {
			continue
		}
		findings[i].Remedy = "The provisioner does nothing with a volume whose reclaim policy is Retain: neither waiting for it nor starting it helps. Note the handle of the disk, then remove the finalizer by hand: the disk stays."
		findings[i].Cost = fmt.Sprintf("The disk of PersistentVolume %s stays, as its reclaim policy says, and nothing in the cluster names it.", o.GetName())
		show := core.Command("kubectl", "get", "OBJECT", "-o", "yaml").Doing("shows the handle of the disk").Risking(finalizer.RiskNone)
		findings[i].Commands = append([]core.Step{show}, f.Commands[max(len(f.Commands)-1, 0):]...) // the last removes the finalizer
	}
	return findings
}
