package deletion

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// stuck is the refusal of a deletion that would not complete, because it takes away who removes the finalizers that it waits for; nil if it would, or if that is allowed.
func (p *Planned) stuck() error {
	if p.planner.request.AllowStuck {
		return nil
	}
	says := p.WouldBeStuck()
	if says == "" {
		return nil
	}
	return answer.Refuse(answer.WithHint(fmt.Errorf("nothing was deleted: the deletion would not complete: %s", says),
		"delete what has the finalizers first, and the rest when it is gone; --allow-stuck deletes all the same"))
}

// WouldBeStuck says which objects keep finalizers that nobody removes, because who does so goes first; empty if there are none.
func (p *Planned) WouldBeStuck() string {
	var objects []graph.Ref
	var cause graph.Ref
	for _, s := range p.Stuck() {
		if s.Because.Code != plan.ActorDeleted {
			continue
		}
		if len(objects) == 0 {
			cause = p.Graph.Ref(s.Because.Cause)
		}
		objects = append(objects, p.Graph.Ref(s.Object))
	}
	if len(objects) == 0 {
		return ""
	}
	return fmt.Sprintf("nobody removes the finalizers of %s once %s is deleted", firstFew(objects), cause.Located())
}
