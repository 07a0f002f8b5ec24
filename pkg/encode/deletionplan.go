package encode

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/approval"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// DeletionPlan returns the plan of a deletion as the versioned object that -o json prints, with its
// digest.
func DeletionPlan(p *deletion.Planned) *v1alpha1.Plan {
	out := Plan(render.DeletionPlan(p), p.Gaps)
	describe(out, p)
	out.Digest = approval.Digest(out)
	return out
}

// DeletionDigest returns the digest of that plan without holding all of it.
func DeletionDigest(p *deletion.Planned) string {
	rest := planBesides(render.DeletionPlan(p), p.Gaps)
	describe(rest, p)
	return approval.Content{
		Plan: rest,
		Actions: func(yield func(v1alpha1.Action) bool) {
			for _, a := range p.Actions {
				if !yield(silentAction(p.Graph, a)) {
					return
				}
			}
		},
		Deleted: func(yield func(v1alpha1.ObjectRef) bool) {
			for _, id := range p.Deleted {
				if !yield(Ref(p.Graph.Ref(id))) {
					return
				}
			}
		},
		Size: len(p.Actions) + len(p.Deleted),
	}.Digest()
}

// describe adds what a deletion was asked for with, and whether its links are complete.
func describe(out *v1alpha1.Plan, p *deletion.Planned) {
	out.Complete = out.Complete && p.LinksComplete()
	request := p.Request()
	out.GracePeriodSeconds, out.PropagateGracePeriod = request.GracePeriodSeconds, request.PropagateGracePeriod
	if request.GC == deletion.ClientGC {
		out.GC = string(request.GC)
	}
}
