package rescue

import "github.com/kubectl-gc/kubectl-gc/pkg/plan"

// Actions are the writes that are due, in their order.
func (p *Planned) Actions() []Action {
	var actions []Action
	if p.Stage != Created {
		for _, d := range p.Dependents {
			if !d.Released {
				actions = append(actions, Action{Verb: plan.VerbOrphan, Object: d.Ref, Cause: p.Ref})
			}
		}
		actions = append(actions, p.freeing()...)
		actions = append(actions, Action{Verb: VerbCreate, Object: p.unborn()})
	}
	if p.Volume != nil {
		actions = append(actions, Action{Verb: VerbRebind, Object: *p.Volume})
	}
	owner := p.Now
	if owner.UID == "" {
		owner = p.unborn()
	}
	for _, d := range p.Dependents {
		actions = append(actions, Action{Verb: VerbAdopt, Object: d.Ref, Cause: owner})
	}
	return actions
}

// freeing are the writes that free the object. The references of its dependents are removed before
// in any case.
func (p *Planned) freeing() []Action {
	var actions []Action
	if p.Finalizers == nil {
		return nil
	}
	for _, c := range p.Finalizers.Candidates() {
		for _, a := range c.Actions() {
			if a.Verb != plan.VerbOrphan {
				actions = append(actions, a)
			}
		}
	}
	return actions
}
