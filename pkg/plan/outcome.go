package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// deleted returns what was there and is gone.
func (s *simulation) deleted() []graph.ID {
	return s.pick(func(id graph.ID) bool { return s.is(id, gone) })
}

func (s *simulation) pick(matches func(graph.ID) bool) []graph.ID {
	var picked []graph.ID
	for _, id := range s.touched {
		if s.Graph.Observed(id) && matches(id) {
			picked = append(picked, id)
		}
	}
	slices.Sort(picked)
	return picked
}

// kept returns the objects that the deletion came near to and does not delete.
func (s *simulation) kept() []ObjectReason {
	var kept []ObjectReason
	for _, id := range s.pick(func(id graph.ID) bool { return !s.is(id, gone|deleting) }) {
		kept = append(kept, ObjectReason{Object: id, Because: s.whyKept(id)})
	}
	return kept
}

// whyKept says why an object that is not being deleted is kept.
func (s *simulation) whyKept(id graph.ID) Reason {
	if _, refused := s.options.protected[id]; refused {
		return Reason{Code: Protected}
	}
	if refused, ok := s.unreached[id]; ok {
		return Reason{Code: NotReached, Cause: refused, HasCause: true}
	}
	if r, ok := s.waitsForStage(); ok && slices.Contains(slices.Concat(s.staged.later...), id) {
		return r
	}
	if r, ok := s.spared(id); ok {
		return r
	}
	item, refs, _ := s.item(id)
	if i := slices.Index(item.Owners, Orphaning); i >= 0 {
		return Reason{Code: OwnerOrphans, Cause: refs[i].Owner, HasCause: true}
	}
	if Decide(item, s.options.Rules).Do == Unresolvable {
		for i, state := range item.Owners {
			if state.unresolved() {
				return Reason{Code: OwnerUnresolved, Cause: refs[i].Owner, HasCause: true}
			}
		}
	}
	if r := s.solidOwner(item, refs); r.HasCause {
		return r
	}
	for e := range s.Graph.Owners(id) {
		if s.edges[e.Index]&released != 0 {
			return Reason{Code: OwnerOrphans, Cause: e.Owner, HasCause: true}
		}
	}
	return Reason{Code: OwnerStays}
}

// deadlocked returns the objects that are still terminating when there is nothing left to do.
func (s *simulation) deadlocked() []ObjectReason {
	var deadlocked []ObjectReason
	for _, id := range s.pick(func(id graph.ID) bool { return !s.is(id, gone) && s.is(id, deleting) }) {
		deadlocked = append(deadlocked, ObjectReason{Object: id, Because: s.waitsFor(id)})
	}
	return deadlocked
}

// waitsFor says what an object that is being deleted waits for.
func (s *simulation) waitsFor(id graph.ID) Reason {
	if r, ok := s.waitsForLink(id); ok {
		return r
	}
	if s.is(id, foreignFinalizers) {
		if part, held := s.options.held[id]; held && s.release {
			return Reason{Code: ActorDeleted, Cause: part, HasCause: true}
		}
		if end, refused := s.refused(id); refused && s.release {
			return Reason{Code: LinkRefused, Cause: end, HasCause: true}
		}
		return Reason{Code: ForeignFinalizers}
	}
	for e := range s.Dependents(id) {
		if s.Blocks(e) {
			return Reason{Code: DependentsBlock, Cause: e.Dependent, HasCause: true}
		}
	}
	r := Reason{Code: DependentsBlock}
	r.Cause, r.HasCause = s.firstContained(id)
	if part, held := s.options.held[id]; held && !r.HasCause {
		return Reason{Code: DiscoveryFails, Cause: part, HasCause: true}
	}
	return r
}

// firstContained returns the first of the objects that a CRD or namespace waits for. It is asked
// when the simulation has ended.
func (s *simulation) firstContained(container graph.ID) (graph.ID, bool) {
	if s.contained == nil {
		s.contained = map[graph.ID]graph.ID{}
		note := func(o, c graph.ID) {
			if first, known := s.contained[c]; !s.is(o, gone) && (!known || o < first) {
				s.contained[c] = o
			}
		}
		for o, c := range s.containers {
			note(o, c)
			for _, other := range s.moreContainers[o] {
				note(o, other)
			}
		}
	}
	first, ok := s.contained[container]
	return first, ok
}

// blockers returns the objects of the cascade that others have finalizers on.
func (s *simulation) blockers() []Blocker {
	var blockers []Blocker
	for _, id := range s.pick(func(id graph.ID) bool { return s.is(id, gone|deleting) }) {
		if names := append(Foreign(s.Graph.Finalizers(id)), s.options.specFinalizers[id]...); len(names) > 0 {
			blockers = append(blockers, Blocker{Object: id, Finalizers: names})
		}
	}
	return blockers
}

// blocked returns the objects that another simulation deletes and this one does not.
func (s *simulation) blocked(other *simulation) []ObjectReason {
	var blocked []ObjectReason
	for _, id := range other.deleted() {
		switch {
		case s.is(id, gone):
		case s.is(id, deleting):
			blocked = append(blocked, ObjectReason{Object: id, Because: s.waitsFor(id)})
		default:
			r, waits := s.waitsForStage()
			if !waits {
				r = s.whyKept(id)
			}
			if r.Code == OwnedByAnother {
				r.Code = OwnerStays
			}
			blocked = append(blocked, ObjectReason{Object: id, Because: r})
		}
	}
	return blocked
}
