package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

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
	if s.special(id) {
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
