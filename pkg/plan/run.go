package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// NewRun plans a run of the collector's loop over all there is: what it does until nothing is left
// that it can do, and nothing that needs somebody else to remove a finalizer. It has no roots and
// no policy.
func NewRun(g *graph.Graph, opts Options) *Plan {
	opts.Rules = Loop
	var candidates []graph.ID
	before := NewProjection(g, opts)
	for id := range g.IDs() {
		if before.Candidate(id) && (opts.Allow == nil || opts.Allow(id)) {
			candidates = append(candidates, id)
		}
	}
	begin := func(s *simulation) {
		s.orphanLate()
		for _, id := range candidates {
			s.Enqueue(id)
		}
	}
	blocked := simulate(g, opts, false, begin)
	p := &Plan{
		Graph: g, options: opts, end: blocked.Projection,
		Actions: blocked.actions, Deleted: blocked.deleted(), Kept: blocked.kept(), Deadlocked: blocked.deadlocked(),
		Blockers:        blocked.blockers(),
		DependsOnTiming: blocked.timing, Guarded: blocked.guarded,
	}
	p.settle(blocked, begin)
	if len(p.Deadlocked) > 0 {
		released := simulate(g, opts, true, begin)
		p.Deadlocked, p.Blocked, p.after = released.deadlocked(), blocked.blocked(released), released.actions
	}
	if terminatingBefore := terminating(blocked.Projection, opts.Allow); len(terminatingBefore) > 0 {
		p.after = simulate(g, opts, true, func(s *simulation) {
			begin(s)
			for _, id := range terminatingBefore {
				s.Enqueue(id)
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
			if s.options.Allow == nil || s.options.Allow(e.Dependent) {
				s.act(Action{Verb: VerbOrphan, Object: e.Dependent, Edges: []int{e.Index}, By: ByCollector,
					Because: Reason{Code: OwnerOrphans, Cause: owner, HasCause: true}})
				s.OwnerRefRemoved(e)
				s.Enqueue(e.Dependent)
			}
		}
	}
}

// terminating returns the objects with dependents that were being deleted before and that
// finalizers of others hold.
func terminating(o *Projection, may func(graph.ID) bool) []graph.ID {
	var ids []graph.ID
	for id := range o.Graph.IDs() {
		if o.Graph.Observed(id) && o.Graph.State(id) == graph.Deleting && o.HasForeignFinalizers(id) &&
			o.Graph.DependentCount(id) > 0 && (may == nil || may(id)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Follows are the objects that a run goes on to delete after others have removed their finalizers,
// and that are not being deleted before, sorted.
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

// Released is the plan of a run with all that is gone once others have removed their finalizers: what
// is read of objects, because they go, is read of these, since a delete that was sent cannot be taken
// back. The plan of a deletion has that already.
func (p *Plan) Released() *Plan {
	if p.options.Rules != Loop {
		return p
	}
	all := *p
	all.Deleted = slices.Concat(p.Deleted, p.Follows())
	for _, a := range p.Actions {
		if a.Verb == VerbDelete {
			all.Deleted = append(all.Deleted, a.Object)
		}
	}
	slices.Sort(all.Deleted)
	all.Deleted = slices.Compact(all.Deleted)
	return &all
}
