package plan

import (
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
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

// Without plans the same deletion where the server refuses to delete some objects, whoever asks: a
// policy or a webhook protects them, with what it says. What was learnt of the plan has to be learnt
// again.
func (p *Plan) Without(refused map[graph.ID]string) *Plan {
	if len(refused) == 0 {
		return p
	}
	opts := p.options
	opts.protected = maps.Clone(opts.protected)
	if opts.protected == nil {
		opts.protected = map[graph.ID]string{}
	}
	maps.Copy(opts.protected, refused)
	return New(p.Graph, p.Roots, p.Policy, opts)
}

// WithoutKept is Without of objects that the server refuses to delete, some of them only because a
// guard keeps each. Who has sent a delete in the course of a cascade repeats it, so that one is
// refused for good only where a guard of its object stays as long as the object does.
func (p *Plan) WithoutKept(refused map[graph.ID]string, kept []graph.ID) *Plan {
	for refused = maps.Clone(refused); ; {
		without := p.Without(refused)
		freed := slices.DeleteFunc(slices.Clone(kept), func(id graph.ID) bool { return !without.outlivesGuards(id) })
		if len(freed) == 0 {
			return without
		}
		kept = slices.DeleteFunc(slices.Clone(kept), func(id graph.ID) bool { return slices.Contains(freed, id) })
		for _, id := range freed {
			delete(refused, id)
		}
	}
}

// WithoutGuarded is the plan without what others cannot delete, because a guard keeps it that stays.
func (p *Plan) WithoutGuarded() *Plan {
	refused := map[graph.ID]string{}
	for _, g := range p.Guarded {
		if !slices.Contains(p.Roots, g.Object) {
			refused[g.Object] = p.Graph.Ref(g.Guard).Located() + " keeps it"
		}
	}
	return p.WithoutKept(refused, slices.Sorted(maps.Keys(refused)))
}

// outlivesGuards reports whether an object has guards, and all of these are gone in the end.
func (p *Plan) outlivesGuards(id graph.ID) bool {
	guarded := false
	for _, f := range p.options.Links.Found(id) {
		if f.Definition.Deletion.Of != link.Guard || f.Dependent() == id {
			continue
		}
		if !p.end.is(f.Dependent(), gone) {
			return false
		}
		guarded = true
	}
	return guarded
}

// Holding returns the plan of the same deletion with the finalizers in the specs of namespaces, which
// metadata does not show.
func (p *Plan) Holding(finalizers map[graph.ID][]string) *Plan {
	if len(finalizers) == 0 {
		return p
	}
	opts := p.options
	opts.specFinalizers = finalizers
	return New(p.Graph, p.Roots, p.Policy, opts)
}

// Refuses reports whether the server refuses to delete an object, whoever asks.
func (p *Plan) Refuses(id graph.ID) bool {
	_, refused := p.options.protected[id]
	return refused
}

// Protected are the objects of the cascade whose deletion the server refuses, sorted.
func (p *Plan) Protected() []v1alpha1.Protected {
	var all []v1alpha1.Protected
	for _, id := range slices.Sorted(maps.Keys(p.options.protected)) {
		if !slices.Contains(p.Deleted, id) {
			all = append(all, v1alpha1.Protected{Object: p.Graph.Ref(id), Message: p.options.protected[id]})
		}
	}
	return all
}

// Guarded is an object whose deletion the server refuses as long as another object, its guard, is
// there.
type Guarded struct {
	Object, Guard graph.ID
	// RepeatedBy is the program that deletes the object once the guard is gone, because somebody
	// tried to before; empty if none does.
	RepeatedBy string
}

// IsGuarded reports whether the server refuses the deletion of an object because of a guard that is
// still there when it is sent.
func (p *Plan) IsGuarded(id graph.ID) bool {
	return slices.ContainsFunc(p.Guarded, func(g Guarded) bool { return g.Object == id })
}

// noteGuards notes the guards that are there when an object is deleted. The client sends all its
// deletes at once, so that a guard that it deletes too may still be there. One whose program
// repeats a deletion that it has refused is gone by then.
func (s *simulation) noteGuards(id graph.ID, by By, because Reason) {
	if s.silent {
		return
	}
	for _, f := range s.options.Links.Found(id) {
		if f.Definition.Deletion.Of != link.Guard || f.Dependent() == id {
			continue
		}
		if because.Code == LinkDeleted && because.Cause == f.Dependent() {
			continue
		}
		g := Guarded{Object: id, Guard: f.Dependent(), RepeatedBy: s.repeats(f.Dependent(), id)}
		there := !s.is(g.Guard, gone) || by == ByClient && s.Graph.Observed(g.Guard) && s.inStage(g.Guard) == s.inStage(id)
		if there && !slices.Contains(s.guarded, g) {
			s.guarded = append(s.guarded, g)
		}
	}
}

// repeats returns the program that deletes an object when its guard is deleted.
func (s *simulation) repeats(guard, object graph.ID) string {
	for _, f := range s.options.Links.Found(guard) {
		if f.Dependent() == object && f.Deletes() {
			return f.Definition.Deletion.By
		}
	}
	return ""
}
