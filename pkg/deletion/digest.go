package deletion

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/approval"
)

// Signed adds to the plan as it is printed what the deletion was asked for with, and the digest.
func (p *Planned) Signed(out *v1alpha1.Plan) *v1alpha1.Plan {
	p.describe(out)
	out.Digest = approval.Digest(out)
	return out
}

// Digest returns the digest of that plan without holding all of it.
func (p *Planned) Digest() string {
	rest := p.Outline(p.Gaps)
	p.describe(rest)
	return approval.Content{
		Plan: rest,
		Actions: func(yield func(v1alpha1.Action) bool) {
			for _, a := range p.Actions {
				if !yield(a.Silent(p.Graph)) {
					return
				}
			}
		},
		Deleted: func(yield func(v1alpha1.ObjectRef) bool) {
			for _, id := range p.Deleted {
				if !yield(p.Graph.Ref(id)) {
					return
				}
			}
		},
		Size: len(p.Actions) + len(p.Deleted),
	}.Digest()
}

// describe adds what the deletion was asked for with, and whether the plan and its links are
// complete.
func (p *Planned) describe(out *v1alpha1.Plan) {
	out.Complete = len(p.Hiding) == 0 && p.LinksComplete()
	request := p.Request()
	out.GracePeriodSeconds, out.PropagateGracePeriod = request.GracePeriodSeconds, request.PropagateGracePeriod
	if request.GC == ClientGC {
		out.GC = string(request.GC)
	}
}
