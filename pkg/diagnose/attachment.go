package diagnose

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// detaching returns who should remove the finalizer of a VolumeAttachment, and what is known of the attachment. A driver that has failed to detach from a node
// that does not exist fails again: to wait for it is no cure.
func (e *storage) detaching(ctx context.Context, id graph.ID, name string) []finding {
	findings := e.byActor(ctx, id, name)
	o := e.own(ctx, id)
	if o == nil {
		return findings
	}
	f := e.attachment(ctx, o)
	findings = withEvidence(findings, f.evidence...)
	for i := range findings {
		if findings[i].code != FinalizerActorAlive {
			continue
		}
		node := status.Nested(o, "spec", "nodeName")
		if failed := status.Nested(o, "status", "detachError", "message"); failed != "" && e.workloads.node(ctx, node).gone {
			findings[i].remedy = fmt.Sprintf("The CSI driver has failed to detach the volume, and Node %s does not exist: find out at the provider whether the machine is gone. "+
				"If it certainly is, remove the finalizer by hand; a machine that still runs would keep writing to the disk.", node)
		}
		last := max(len(findings[i].commands)-1, 0) // what removes the finalizer
		findings[i].commands = slices.Insert(slices.Clone(findings[i].commands), last, f.commands...)
	}
	return findings
}
