package storage

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Detaching returns who should remove the finalizer of a VolumeAttachment, and what is known of the attachment. A driver that has failed to detach from a node
// that does not exist fails again: to wait for it is no cure.
func (e *Examiner) Detaching(ctx context.Context, id graph.ID, name string) []core.Finding {
	findings := e.ByActor(ctx, id, name)
	o := e.Own(ctx, id)
	if o == nil {
		return findings
	}
	f := e.attachment(ctx, o)
	findings = core.WithEvidence(findings, f.Evidence...)
	for i := range findings {
		if findings[i].Code != core.FinalizerActorAlive {
			continue
		}
		node := status.Nested(o, "spec", "nodeName")
		if failed := status.Nested(o, "status", "detachError", "message"); failed != "" && e.workloads.Node(ctx, node).Gone {
			findings[i].Remedy = fmt.Sprintf("The CSI driver has failed to detach the volume, and Node %s does not exist: find out at the provider whether the machine is gone. "+
				"If it certainly is, remove the finalizer by hand; a machine that still runs would keep writing to the disk.", node)
		}
		last := max(len(findings[i].Commands)-1, 0) // what removes the finalizer
		findings[i].Commands = slices.Insert(slices.Clone(findings[i].Commands), last, f.Commands...)
	}
	return findings
}
