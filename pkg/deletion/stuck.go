package deletion

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// stuck is the refusal of a deletion that would not complete; nil if it would, or if that is allowed.
func (p *Planned) stuck() error {
	if p.planner.request.AllowStuck {
		return nil
	}
	says := p.WouldBeStuck()
	if says == "" {
		return nil
	}
	return answer.Refuse(answer.WithHint(fmt.Errorf("nothing was deleted: the deletion would not complete: %s", says),
		hintStuck(len(p.Protected()) > 0)))
}

func hintStuck(protected bool) string {
	if protected {
		return "change what refuses it, or leave the object out; --allow-stuck deletes the rest all the same"
	}
	return "--ordered deletes what has the finalizers first, and the rest when it is gone; --allow-stuck deletes all the same"
}

// WouldBeStuck says why the deletion would not complete: the server refuses a part of it, or who removes finalizers goes first; empty if it would.
func (p *Planned) WouldBeStuck() string {
	if refused := p.Protected(); len(refused) > 0 {
		objects := make([]graph.Ref, len(refused))
		for i, r := range refused {
			objects[i] = p.Graph.Ref(r.Object)
		}
		return fmt.Sprintf("the server refuses to delete %s: %s", firstFew(objects), refused[0].Message)
	}
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
