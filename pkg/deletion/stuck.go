package deletion

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// stuck is the refusal of a deletion that would not complete; nil if it would, or if that is
// allowed.
func (p *Planned) stuck() error {
	if p.planner.request.AllowStuck {
		return nil
	}
	says := p.WouldBeStuck()
	if says == "" {
		return nil
	}
	return answer.Refuse(answer.WithHint(fmt.Errorf("nothing was deleted: the deletion would not complete: %s", says),
		p.hintStuck()))
}

func (p *Planned) hintStuck() string {
	switch {
	case len(p.unserved) > 0:
		return "delete " + p.answered() + " too; --allow-stuck deletes all the same"
	case len(p.Protected()) > 0 && cluster.IsImmortal(p.Protected()[0].Object): // which is the one that is named
		return "nothing changes that; --allow-stuck deletes the rest all the same"
	case len(p.Protected()) > 0:
		return "change what refuses it, or leave the object out; --allow-stuck deletes the rest all the same"
	case slices.ContainsFunc(p.Stuck(), func(s plan.ObjectReason) bool { return s.Because.Code == plan.LinkRefused }):
		return "give the ServiceAccount the right to, or leave the object out; --allow-stuck deletes the rest all the same"
	case p.planner.request.Ordered ||
		slices.ContainsFunc(p.Stuck(), func(s plan.ObjectReason) bool { return !p.Belongs(s.Object) }):
		return "--allow-stuck deletes all the same" // a stage deletes nothing that only a link leads to
	}
	return "--ordered deletes what has the finalizers first, and the rest when it is gone; --allow-stuck deletes all the same"
}

// WouldBeStuck says why the deletion would not complete: the server refuses a part of it, or who
// removes finalizers goes first; empty if it would.
func (p *Planned) WouldBeStuck() string {
	if refused := p.Protected(); len(refused) > 0 {
		objects := make([]graph.Ref, len(refused))
		for i, r := range refused {
			objects[i] = r.Object
		}
		return fmt.Sprintf("the server refuses to delete %s: %s", firstFew(objects), refused[0].Message)
	}
	if objects, cause := p.stuckFor(plan.ActorDeleted); len(objects) > 0 {
		return fmt.Sprintf("nobody removes the finalizers of %s once %s is deleted", firstFew(objects), cause.Located())
	}
	for _, s := range p.Stuck() {
		if f, ok := p.Link(s.Object, s.Because); ok && s.Because.Code == plan.LinkRefused {
			return fmt.Sprintf("%s does not let %s go while %s is there: %s", f.Definition.Deletion.By,
				p.Graph.Ref(s.Object).Located(), p.Graph.Ref(s.Because.Cause).Located(), f.Refused)
		}
	}
	if objects, cause := p.stuckFor(plan.DiscoveryFails); len(objects) > 0 {
		return fmt.Sprintf("the namespace controller cannot finish %s once %s is deleted, which answers %s",
			firstFew(objects), cause.Located(), p.answered())
	}
	return ""
}

// stuckFor are the objects that are stuck for a reason, with the cause of the first.
func (p *Planned) stuckFor(code plan.ReasonCode) (objects []graph.Ref, cause graph.Ref) {
	for _, s := range p.Stuck() {
		if s.Because.Code != code {
			continue
		}
		if len(objects) == 0 {
			cause = p.Graph.Ref(s.Because.Cause)
		}
		objects = append(objects, p.Graph.Ref(s.Object))
	}
	return objects, cause
}

// answered names the APIServices that lose what answers them.
func (p *Planned) answered() string {
	refs := make([]graph.Ref, len(p.unserved))
	for i, u := range p.unserved {
		refs[i] = u.APIService
	}
	return firstFew(refs)
}
