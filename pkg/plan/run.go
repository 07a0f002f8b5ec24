package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// NewRun plans a run of the collector's loop over all there is: what it does until nothing is left that it can do, and nothing that needs
// somebody else to take off a finalizer. It has no roots and no policy.
func NewRun(g *graph.Graph, opts Options) *Plan {
	opts.Rules = Loop
	var candidates []graph.ID
	before := NewOverlay(g, opts)
	for i := range g.Len() {
		if id := graph.ID(i); before.Candidate(id) && (opts.May == nil || opts.May(id)) {
			candidates = append(candidates, id)
		}
	}
	begin := func(s *simulation) {
		s.orphanLate()
		for _, id := range candidates {
			s.Look(id)
		}
	}
	held := simulate(g, opts, false, begin)
	p := &Plan{
		Graph: g, options: opts, end: held.Overlay,
		Actions: held.actions, Deleted: held.deleted(), Survivors: held.survivors(), Stuck: held.stuck(), Blockers: held.blockers(),
		DependsOnTiming: held.timing,
	}
	p.settle(held, begin)
	if len(p.Stuck) > 0 {
		released := simulate(g, opts, true, begin)
		p.Stuck, p.Remaining, p.after = released.stuck(), held.remaining(released), released.actions
	}
	if heldBefore := terminating(held.Overlay, opts.May); len(heldBefore) > 0 {
		p.after = simulate(g, opts, true, func(s *simulation) {
			begin(s)
			for _, id := range heldBefore {
				s.Look(id)
			}
		}).actions
	}
	p.explain()
	return p
}

// orphanLate removes the references to owners whose other dependents were orphaned before.
func (s *simulation) orphanLate() {
	for _, uid := range s.options.Orphaned {
		owner, referenced := s.Graph.Lookup(uid)
		if !referenced || s.Orphans(owner) {
			continue
		}
		for e := range s.Dependents(owner) {
			if s.options.May == nil || s.options.May(e.Dependent) {
				s.act(Action{Verb: VerbOrphan, Object: e.Dependent, Edges: []int{e.Index}, By: ByCollector, Because: Reason{Code: OwnerOrphans, Cause: owner, HasCause: true}})
				s.Stripped(e)
				s.Look(e.Dependent)
			}
		}
	}
}

// terminating returns the objects with dependents that were being deleted before and that finalizers of others hold.
func terminating(o *Overlay, may func(graph.ID) bool) []graph.ID {
	var ids []graph.ID
	for i := range o.Graph.Len() {
		id := graph.ID(i)
		if o.Graph.Seen(id) && o.Graph.State(id) == graph.Deleting && o.Held(id) && o.Graph.DependentCount(id) > 0 && (may == nil || may(id)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Follows are the objects that a run goes on to delete after others have removed their finalizers, and that are not being deleted before, sorted.
func (p *Plan) Follows() []graph.ID {
	begun := map[graph.ID]bool{}
	for _, a := range p.Actions {
		begun[a.Object] = begun[a.Object] || a.Verb == VerbDelete
	}
	var follows []graph.ID
	for _, a := range p.after {
		if a.Verb == VerbDelete && !begun[a.Object] {
			follows = append(follows, a.Object)
		}
	}
	slices.Sort(follows)
	return slices.Compact(follows)
}
