package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// delete is what the API server does with a DELETE: it puts the finalizer that the policy wants in
// the place of the collector's finalizers (API-003), and removes the object if it has none left
// (API-017).
func (s *simulation) delete(id graph.ID, policy Policy, by By, because Reason) {
	if _, refused := s.options.protected[id]; refused && by != ByClient {
		s.touch(id)
		return
	}
	s.noteGuards(id, by, because)
	s.act(Action{Verb: VerbDelete, Object: id, Policy: policy, By: by, Because: because})
	if special(s.Graph, id) {
		s.objects[id] |= cleanup // which ignores the policy until its content is gone (API-060, NS-003)
	}
	s.Delete(id, policy)
	if by == ByClient {
		s.finishing.firstSeen(id, -1) // before the loop lists
	}
	if s.staged != nil {
		s.staged.begunIn[id] = s.staged.stage
	}
	s.begin(id)
	s.settle(id)
}

// clear removes finalizers.
func (s *simulation) clear(id graph.ID, finalizers objectState) {
	s.objects[id] &^= finalizers
	s.settle(id)
}

// settle removes an object that is being deleted and that nothing holds (API-020), or has it looked
// at again.
func (s *simulation) settle(id graph.ID) {
	switch {
	case !s.is(id, deleting):
	case s.is(id, foreignFinalizers|orphan|foreground|cleanup|linked):
		if s.is(id, orphan|cleanup|linked) || s.release {
			s.Enqueue(id)
		}
	default:
		s.remove(id)
	}
}

// remove takes an object away; whoever waits for it is looked at.
func (s *simulation) remove(id graph.ID) {
	s.touch(id)
	s.Removed(id)
	if s.staged != nil {
		s.staged.goneIn[id] = s.staged.stage
	}
	if container, ok := s.containers[id]; ok {
		s.Enqueue(container)
		for _, other := range s.moreContainers[id] {
			s.Enqueue(other)
		}
	}
}

// unblock sets blockOwnerDeletion to false on an object's references, so that a cycle comes to an
// end (GC-054). It is false if none of them blocks.
func (s *simulation) unblock(id graph.ID, refs []graph.Edge) bool {
	var indices []int
	for _, e := range refs {
		if s.Blocks(e) {
			indices = append(indices, e.Index)
		}
	}
	if len(indices) == 0 {
		return false
	}
	s.act(Action{Verb: VerbUnblock, Object: id, Edges: indices, By: ByCollector, Because: Reason{Code: MayBeCycle}})
	for _, e := range refs {
		if s.Blocks(e) {
			s.Unblocked(e)
		}
	}
	return true
}

// orphanDependents takes the references to an object off all its dependents, and then its finalizer
// (GC-067).
func (s *simulation) orphanDependents(id graph.ID) {
	s.orphaned[id] = true
	cause := Reason{Code: OwnerOrphans, Cause: id, HasCause: true}
	kept, had := false, false
	for e := range s.Dependents(id) {
		if s.options.Allow != nil && !s.options.Allow(e.Dependent) {
			kept = true // and its owner with it (P-19)
			continue
		}
		had = true
		retried := s.retried(e.Dependent)
		lost := s.lostBesides(e)
		s.act(Action{Verb: VerbOrphan, Object: e.Dependent, Edges: lost, By: ByCollector, Because: cause})
		s.edges[e.Index] |= ownerRefRemoved | released
		s.enqueueMisnamed(e.Dependent)
		s.settle(e.Dependent)
		if retried || s.options.Rules == Loop {
			s.timing = s.timing || s.options.Rules == Upstream
			s.Enqueue(e.Dependent) // a loop of passes looks at everything again (RO-001)
		}
	}
	switch {
	case kept || s.mayHide(id):
	case s.options.Rules == Loop:
		s.finishLater(id, had)
	default:
		s.removeFinalizer(id, orphan, Orphaned)
	}
}

// lostBesides returns the reference to an owner that orphans its dependents, and those that the
// loop removes from the same dependent with it, by their Index. These are removed already.
func (s *simulation) lostBesides(e graph.Edge) []int {
	lost := []int{e.Index}
	if s.options.Rules != Loop {
		return lost
	}
	for _, other := range s.Lost(e.Dependent) {
		lost = append(lost, other.Index)
		s.OwnerRefRemoved(other)
	}
	slices.Sort(lost)
	return lost
}

// retried reports whether the collector tries an object again and again because it cannot resolve
// one of its references (GC-050). One that it gives up on because of a reference of bad scope it
// forgets until the next event (GC-041, GC-048); the first of them in the object's order decides,
// because the first error ends the attempt (GC-046).
func (s *simulation) retried(id graph.ID) bool {
	item, _, _ := s.item(id)
	for _, state := range item.Owners {
		if state.unresolved() {
			return state == Unknown
		}
	}
	return false
}
