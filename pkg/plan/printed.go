package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Printed returns the plan as it is printed, but for its sentences. The gaps are all that were met.
func (p *Plan) Printed(gaps []v1alpha1.Gap) *v1alpha1.Plan {
	out := p.Outline(gaps)
	out.Actions = make([]v1alpha1.Action, len(p.Actions))
	for i, a := range p.Actions {
		out.Actions[i] = a.Silent(p.Graph)
		if f, ok := p.Link(a.Object, a.Because); ok {
			out.Actions[i].Confirmed = &f.Confirmed
		}
	}
	out.Deleted = p.Graph.Refs(p.Deleted)
	return out
}

// Outline returns the plan as it is printed but for its actions and what it deletes, which are most
// of it, and for its sentences.
func (p *Plan) Outline(gaps []v1alpha1.Gap) *v1alpha1.Plan {
	out := &v1alpha1.Plan{
		TypeMeta: v1alpha1.TypeMeta("Plan"),
		Policy:   string(p.Policy),
		Roots:    p.Graph.Refs(p.Roots),
		Complete: len(gaps) == 0,
		Gaps:     append([]v1alpha1.Gap{}, gaps...),

		Survivors: p.survivors(p.Kept), Stuck: p.survivors(p.Deadlocked), Remaining: p.survivors(p.Blocked),
		Blockers: []v1alpha1.Blocker{}, DependsOnTiming: p.DependsOnTiming,
		NonBlocking: []v1alpha1.NonBlocking{}, Forbidden: []v1alpha1.Forbidden{}, Unread: p.Graph.Refs(p.Unread),
		Unsettled: p.Graph.Refs(p.Unsettled),
		Disks:     p.Disks, UnreadDisks: p.Graph.Refs(p.UnreadDisks),
		Freed: p.Freed, Outside: p.Outside, UnreadOutside: p.Graph.Refs(p.UnreadOutside),
		Idle: p.Idle, Abandoned: p.Abandoned, Unserved: p.Unserved,
		Spared: p.Spared, UnreadSpared: p.Graph.Refs(p.UnreadSpared), Decided: p.Decided,
		Protected: p.Protected(),
	}
	for _, s := range p.Stages() {
		out.Stages = append(out.Stages, v1alpha1.Stage{Objects: p.Graph.Refs(s.Objects), Deleted: p.Graph.Refs(s.Deleted)})
	}
	if left := p.Unconfirmed(); len(left) > 0 {
		out.Unconfirmed = p.Graph.Refs(left)
	}
	if cycle := p.OrderCycle(); len(cycle) > 0 {
		out.OrderCycle = p.Graph.Refs(cycle)
	}
	for _, cycle := range p.Cycles {
		out.Cycles = append(out.Cycles, p.Graph.Refs(cycle))
	}
	for _, e := range p.NonBlocking {
		out.NonBlocking = append(out.NonBlocking,
			v1alpha1.NonBlocking{Object: p.Graph.Ref(e.Dependent), Owner: p.Graph.Ref(e.Owner)})
	}
	for _, f := range p.Forbidden {
		out.Forbidden = append(out.Forbidden,
			v1alpha1.Forbidden{Object: p.Graph.Ref(f.Object), Verb: f.Verb, Reason: p.Denial(f)})
	}
	for _, b := range p.Blockers {
		out.Blockers = append(out.Blockers, v1alpha1.Blocker{
			Object: p.Graph.Ref(b.Object), Finalizers: append([]string{}, b.Finalizers...),
			Until: p.Graph.Refs(p.Until(b.Object)), GracePeriodSeconds: b.GracePeriodSeconds,
		})
	}
	for _, r := range p.Recreated {
		out.Recreated = append(out.Recreated,
			v1alpha1.Recreated{Object: p.Graph.Ref(r.Object), Owner: p.Graph.Ref(r.Owner), Field: r.Field,
				Program: r.Program, With: r.With})
	}
	for _, g := range p.Guarded {
		out.Guarded = append(out.Guarded,
			v1alpha1.Guarded{Object: p.Graph.Ref(g.Object), Guard: p.Graph.Ref(g.Guard), RepeatedBy: g.RepeatedBy})
	}
	return out
}

func (p *Plan) survivors(list []ObjectReason) []v1alpha1.Survivor {
	survivors := make([]v1alpha1.Survivor, len(list))
	for i, s := range list {
		survivors[i] = v1alpha1.Survivor{Object: p.Graph.Ref(s.Object), Reason: string(s.Because.Code)}
	}
	return survivors
}

// Printed returns the action as it is printed. The graph is the one that its plan is about.
func (a Action) Printed(g *graph.Graph) v1alpha1.Action {
	out := a.Silent(g)
	out.Because = a.Because.Sentence(g, a.Object)
	return out
}

// Silent returns the action as it is printed, without the sentence that says why.
func (a Action) Silent(g *graph.Graph) v1alpha1.Action {
	out := v1alpha1.Action{
		Verb: string(a.Verb), Object: g.Ref(a.Object), Policy: string(a.Policy), Wave: a.Wave, Stage: a.Stage,
		By:     string(a.By),
		Reason: string(a.Because.Code),
	}
	if a.Verb == VerbSetPolicy {
		out.Field, out.Value = a.Setting.Field.String(), a.Setting.Value
	}
	for e := range g.Owners(a.Object) {
		if slices.Contains(a.Edges, e.Index) {
			out.Owners = append(out.Owners, g.Ref(e.Owner).UID)
		}
	}
	return out
}
