package encode

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// Plan returns the plan as the versioned object that -o json prints. All gaps are in it; those of
// the Plan decide whether it is complete.
func Plan(p render.Plan, gaps []v1alpha1.Gap) *v1alpha1.Plan {
	out := planBesides(p, gaps)
	out.Findings = p.Findings()
	out.Actions = make([]v1alpha1.Action, len(p.Actions))
	for i, a := range p.Actions {
		out.Actions[i] = silentAction(p.Graph, a)
		out.Actions[i].Because = p.Because(a.Object, a.Because)
		if f, ok := p.Link(a.Object, a.Because); ok {
			out.Actions[i].Confirmed = &f.Confirmed
		}
	}
	out.Deleted = refs(p.Graph, p.Deleted)
	return out
}

// planBesides returns a plan but for its actions and what it deletes, which are most of it.
func planBesides(p render.Plan, gaps []v1alpha1.Gap) *v1alpha1.Plan {
	out := &v1alpha1.Plan{
		TypeMeta: v1alpha1.TypeMeta("Plan"),
		Policy:   string(p.Policy),
		Roots:    refs(p.Graph, p.Roots),
		Complete: len(p.Gaps) == 0,
		Gaps:     append([]v1alpha1.Gap{}, gaps...),

		Survivors: kept(p, p.Kept), Stuck: kept(p, p.Deadlocked), Remaining: kept(p, p.Blocked),
		Blockers: []v1alpha1.Blocker{}, DependsOnTiming: p.DependsOnTiming,
		NonBlocking: []v1alpha1.NonBlocking{}, Forbidden: []v1alpha1.Forbidden{}, Unread: refs(p.Graph, p.Unread),
		Unsettled: refs(p.Graph, p.Unsettled),
		Disks:     p.Disks, UnreadDisks: refs(p.Graph, p.UnreadDisks),
	}
	for _, s := range p.Stages() {
		out.Stages = append(out.Stages, v1alpha1.Stage{Objects: refs(p.Graph, s.Objects), Deleted: refs(p.Graph, s.Deleted)})
	}
	if left := p.Unconfirmed(); len(left) > 0 {
		out.Unconfirmed = refs(p.Graph, left)
	}
	if cycle := p.OrderCycle(); len(cycle) > 0 {
		out.OrderCycle = refs(p.Graph, cycle)
	}
	for _, cycle := range p.Cycles {
		out.Cycles = append(out.Cycles, refs(p.Graph, cycle))
	}
	for _, i := range p.Idle {
		out.Idle = append(out.Idle, v1alpha1.IdleActor{Object: Ref(p.Graph.Ref(i.Object)), Finalizer: i.Finalizer,
			Actor: i.Actor, Evidence: i.Because})
	}
	for _, e := range p.NonBlocking {
		out.NonBlocking = append(out.NonBlocking,
			v1alpha1.NonBlocking{Object: Ref(p.Graph.Ref(e.Dependent)), Owner: Ref(p.Graph.Ref(e.Owner))})
	}
	for _, f := range p.Forbidden {
		out.Forbidden = append(out.Forbidden,
			v1alpha1.Forbidden{Object: Ref(p.Graph.Ref(f.Object)), Verb: f.Verb, Reason: p.Denial(f)})
	}
	for _, b := range p.Blockers {
		out.Blockers = append(out.Blockers, v1alpha1.Blocker{
			Object: Ref(p.Graph.Ref(b.Object)), Finalizers: append([]string{}, b.Finalizers...),
			Until: refs(p.Graph, p.Until(b.Object)), GracePeriodSeconds: b.GracePeriodSeconds, Because: p.WaitsFor(b),
		})
	}
	for _, s := range p.Spared {
		out.Spared = append(out.Spared,
			v1alpha1.Spared{Object: Ref(p.Graph.Ref(s.Object)), Finalizer: s.Finalizer, Because: s.Because})
	}
	out.UnreadSpared = refs(p.Graph, p.UnreadSpared)
	for _, d := range p.Decided {
		out.Decided = append(out.Decided,
			v1alpha1.Decided{Object: Ref(p.Graph.Ref(d.Object)), Finalizer: d.Finalizer, Field: d.Field, Value: d.Value})
	}
	for _, r := range p.Recreated {
		out.Recreated = append(out.Recreated,
			v1alpha1.Recreated{Object: Ref(p.Graph.Ref(r.Object)), Owner: Ref(p.Graph.Ref(r.Owner)), Field: r.Field,
				Program: r.Program, With: r.With})
	}
	for _, g := range p.Guarded {
		out.Guarded = append(out.Guarded,
			v1alpha1.Guarded{Object: Ref(p.Graph.Ref(g.Object)), Guard: Ref(p.Graph.Ref(g.Guard)), RepeatedBy: g.RepeatedBy})
	}
	for _, a := range p.Abandoned {
		abandoned := v1alpha1.Abandoned{Finalizer: a.Finalizer, Count: a.Count, Actor: Ref(p.Graph.Ref(a.Actor))}
		for _, ref := range a.First {
			abandoned.Objects = append(abandoned.Objects, Ref(ref))
		}
		out.Abandoned = append(out.Abandoned, abandoned)
	}
	for _, u := range p.Unserved {
		out.Unserved = append(out.Unserved,
			v1alpha1.Unserved{APIService: Ref(u.APIService), Backend: Ref(p.Graph.Ref(u.Backend)),
				Namespaces: refs(p.Graph, u.Namespaces)})
	}
	for _, r := range p.Protected() {
		out.Protected = append(out.Protected, v1alpha1.Protected{Object: Ref(p.Graph.Ref(r.Object)), Message: r.Message})
	}
	if a := p.Asked; a != nil {
		out.Asked = &v1alpha1.Asked{Count: a.Count, Of: a.Of, Unanswered: a.Unanswered, AsControllers: a.As}
	}
	return out
}

// Action returns one action as it is printed. The graph is the one that its plan is about.
func Action(g *graph.Graph, a plan.Action) v1alpha1.Action {
	out := silentAction(g, a)
	out.Because = render.Because(g, a.Object, a.Because)
	return out
}

// silentAction returns one action without the sentence that says why.
func silentAction(g *graph.Graph, a plan.Action) v1alpha1.Action {
	out := v1alpha1.Action{
		Verb: string(a.Verb), Object: Ref(g.Ref(a.Object)), Policy: string(a.Policy), Wave: a.Wave, Stage: a.Stage,
		By:     string(a.By),
		Reason: string(a.Because.Code),
	}
	if a.Verb == plan.VerbSetPolicy {
		out.Field, out.Value = a.Setting.Field.String(), a.Setting.Value
	}
	for e := range g.Owners(a.Object) {
		if slices.Contains(a.Edges, e.Index) {
			out.Owners = append(out.Owners, g.Ref(e.Owner).UID)
		}
	}
	return out
}

func refs(g *graph.Graph, ids []graph.ID) []v1alpha1.ObjectRef {
	refs := make([]v1alpha1.ObjectRef, len(ids))
	for i, id := range ids {
		refs[i] = Ref(g.Ref(id))
	}
	return refs
}

func kept(p render.Plan, list []plan.ObjectReason) []v1alpha1.Survivor {
	survivors := make([]v1alpha1.Survivor, len(list))
	for i, s := range list {
		survivors[i] = v1alpha1.Survivor{Object: Ref(p.Graph.Ref(s.Object)), Because: p.Because(s.Object, s.Because),
			Reason: string(s.Because.Code)}
	}
	return survivors
}
