package plan

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// delete is what the API server does with a DELETE: it puts the finalizer that the policy wants in the place of the
// collector's finalizers (API-003), and removes the object if it has none left (API-017).
func (s *simulation) delete(id graph.ID, policy Policy, by By, because Reason) {
	s.act(Action{Verb: VerbDelete, Object: id, Policy: policy, By: by, Because: because})
	if s.special(id) {
		s.objects[id] |= cleanup // which ignores the policy until its content is gone (API-060, NS-003)
	}
	s.objects[id] = s.objects[id]&^(orphan|foreground) | deleting
	switch policy {
	case Orphan:
		s.objects[id] |= orphan
	case Foreground:
		s.objects[id] |= foreground
		s.wait(id)
	}
	s.settle(id)
}

// wait makes the collector look at an object that waits for its dependents, and at all of them (GC-025).
func (s *simulation) wait(id graph.ID) {
	s.look(id)
	for e := range s.dependents(id) {
		s.look(e.Dependent)
	}
}

// clear takes finalizers off.
func (s *simulation) clear(id graph.ID, finalizers objectState) {
	s.objects[id] &^= finalizers
	s.settle(id)
}

// settle removes an object that is being deleted and that nothing holds (API-020), or has it looked at again.
func (s *simulation) settle(id graph.ID) {
	switch {
	case !s.is(id, deleting):
	case s.is(id, held|orphan|foreground|cleanup):
		if s.is(id, orphan|cleanup) || s.release {
			s.look(id)
		}
	default:
		s.remove(id)
	}
}

// remove takes an object away: its dependents have lost an owner, and whoever waits for it is looked at (GC-027).
func (s *simulation) remove(id graph.ID) {
	s.touch(id)
	s.objects[id] = s.objects[id]&queued | gone | touched
	for e := range s.dependents(id) {
		s.look(e.Dependent)
	}
	for e := range s.g.Owners(id) {
		s.lookIfWaiting(e)
	}
	if container, ok := s.containers[id]; ok {
		s.look(container)
	}
}

func (s *simulation) lookIfWaiting(e graph.Edge) {
	if s.edges[e.Index]&stripped == 0 && s.is(e.Owner, deleting) && s.is(e.Owner, foreground) {
		s.look(e.Owner)
	}
}

// strip takes one reference off.
func (s *simulation) strip(e graph.Edge) {
	s.lookIfWaiting(e)
	s.edges[e.Index] |= stripped
}

// unblock sets blockOwnerDeletion to false on an object's references, so that a cycle comes to an end (GC-054). It is false
// if none of them blocks.
func (s *simulation) unblock(id graph.ID, refs []graph.Edge) bool {
	var indices []int
	for _, e := range refs {
		if s.blocks(e) {
			indices = append(indices, e.Index)
		}
	}
	if len(indices) == 0 {
		return false
	}
	s.act(Action{Verb: VerbUnblock, Object: id, Edges: indices, By: ByCollector, Because: Reason{Code: MayBeCycle}})
	for _, e := range refs {
		if s.blocks(e) {
			s.edges[e.Index] |= unblocked
			s.lookIfWaiting(e)
		}
	}
	return true
}

// orphanDependents takes the references to an object off all its dependents, and then its finalizer (GC-067).
func (s *simulation) orphanDependents(id graph.ID) {
	cause := Reason{Code: OwnerOrphans, Cause: id, HasCause: true}
	for e := range s.dependents(id) {
		retried := s.retried(e.Dependent)
		s.act(Action{Verb: VerbOrphan, Object: e.Dependent, Edges: []int{e.Index}, By: ByCollector, Because: cause})
		s.edges[e.Index] |= stripped
		s.settle(e.Dependent)
		if retried {
			s.timing = true
			s.look(e.Dependent)
		}
	}
	s.act(Action{Verb: VerbRemoveFinalizer, Object: id, By: ByCollector, Because: Reason{Code: Orphaned}})
	s.clear(id, orphan)
}

// retried says whether the collector tries an object again and again because it cannot resolve one of its references (GC-050). One that it
// gives up on because of a reference of bad scope it forgets until the next event (GC-041, GC-048); the first of them in the
// object's order decides, because the first error ends the attempt (GC-046).
func (s *simulation) retried(id graph.ID) bool {
	item, _, _ := s.item(id)
	for _, state := range item.Owners {
		if state.unresolved() {
			return state == Unknown
		}
	}
	return false
}
