package encode

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/approval"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// DeletionPlan returns the plan of a deletion as the versioned object that -o json prints, with its digest.
func DeletionPlan(p *deletion.Planned) *v1alpha1.Plan {
	out := Plan(render.DeletionPlan(p), p.Gaps)
	request := p.Request()
	out.GracePeriodSeconds, out.PropagateGracePeriod = request.GracePeriodSeconds, request.PropagateGracePeriod
	if request.GC == deletion.ClientGC {
		out.GC = string(request.GC)
	}
	out.Digest = approval.Digest(out)
	return out
}
