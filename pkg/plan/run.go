package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
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

// NewOngoing plans how deletions end that have begun, as far as they are about the roots: nobody
// sends anything, and the collector, the controllers and whoever has a finalizer go on. The policy
// of each deletion is read from the finalizers of the object. A root goes because it is being
// deleted, or because something takes it along that is: an owner, its namespace, or what is above
// it in a link. One that nothing takes along is in Kept. A root can also be an object that is
// absent, whose dependents are left. Deleted and Deadlocked are the roots and what goes with them;
// there is no policy.
func NewOngoing(g *graph.Graph, roots []graph.ID, opts Options) *Plan {
	s := simulate(g, opts, true, (*simulation).resume)
	p := &Plan{Graph: g, Roots: roots, options: opts, end: s.Projection, DependsOnTiming: s.timing}
	in := s.cascade(roots)
	for _, a := range s.actions {
		if in[a.Object] {
			p.Actions = append(p.Actions, a)
		}
	}
	p.Deleted = slices.DeleteFunc(s.deleted(), func(id graph.ID) bool { return !in[id] })
	p.Deadlocked = slices.DeleteFunc(s.deadlocked(), func(r ObjectReason) bool { return !in[r.Object] })
	for _, id := range roots {
		if !in[id] {
			p.Kept = append(p.Kept, ObjectReason{Object: id, Because: s.whyKept(id)})
		}
	}
	return p
}

// resume has all looked at that is being deleted, and what the collector has not taken up yet.
func (s *simulation) resume() {
	for id := range s.Graph.IDs() {
		switch {
		case s.is(id, deleting):
			s.resumeDeletion(id)
		case s.Candidate(id):
			s.Enqueue(id)
		}
	}
}

// resumeDeletion brings an object to where delete would have left it.
func (s *simulation) resumeDeletion(id graph.ID) {
	if special(s.Graph, id) {
		s.objects[id] |= cleanup
		if len(s.Graph.Finalizers(id)) == 0 {
			s.objects[id] &^= foreignFinalizers // there is no grace period
		}
	}
	s.begin(id)
	if s.Waits(id) {
		s.wait(id)
	}
	s.settle(id)
}

// cascade are those of the roots that go or are absent, and what goes with them. What keeps an
// object for another reason is not told from what its owners do: it is in the cascade of each owner
// that it has not lost.
func (s *simulation) cascade(roots []graph.ID) map[graph.ID]bool {
	in := map[graph.ID]bool{}
	for next := slices.Clone(roots); len(next) > 0; {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		if in[id] || !s.is(id, gone|deleting) {
			continue
		}
		in[id] = true
		for e := range s.Graph.Dependents(id) {
			if s.edges[e.Index]&ownerRefRemoved == 0 {
				next = append(next, e.Dependent)
			}
		}
		if rule, is := link.Of(s.Graph.Ref(id)); is {
			next = append(next, s.content(id, rule)...)
		}
		next = append(next, s.linkedBelow(id)...)
	}
	return in
}

// linkedBelow are the objects that programs delete because an object is deleted.
func (s *simulation) linkedBelow(id graph.ID) []graph.ID {
	var below []graph.ID
	found := s.options.Links.Found(id)
	for i := range found {
		if s.effect(&found[i]) == LinkDeleted {
			below = append(below, found[i].Dependent())
		}
	}
	return below
}
