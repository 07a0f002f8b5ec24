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
		if s.Graph.Seen(id) && matches(id) {
			picked = append(picked, id)
		}
	}
	slices.Sort(picked)
	return picked
}

// survivors returns what the deletion came near to and left alone.
func (s *simulation) survivors() []Survivor {
	var survivors []Survivor
	for _, id := range s.pick(func(id graph.ID) bool { return !s.is(id, gone|deleting) }) {
		survivors = append(survivors, Survivor{Object: id, Because: s.keeps(id)})
	}
	return survivors
}

// keeps says why an object that is not being deleted stays.
func (s *simulation) keeps(id graph.ID) Reason {
	item, refs, _ := s.item(id)
	if i := slices.Index(item.Owners, Orphaning); i >= 0 {
		return Reason{Code: OwnerOrphans, Cause: refs[i].Owner, HasCause: true}
	}
	if Decide(item, s.options.Rules).Do == Frozen {
		for i, state := range item.Owners {
			if state.unresolved() {
				return Reason{Code: NotJudged, Cause: refs[i].Owner, HasCause: true}
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

// stuck returns what is still being deleted when there is nothing left to do.
func (s *simulation) stuck() []Survivor {
	var stuck []Survivor
	for _, id := range s.pick(func(id graph.ID) bool { return !s.is(id, gone) && s.is(id, deleting) }) {
		stuck = append(stuck, Survivor{Object: id, Because: s.waitsFor(id)})
	}
	return stuck
}

// waitsFor says what an object that is being deleted waits for.
func (s *simulation) waitsFor(id graph.ID) Reason {
	if s.is(id, held) {
		return Reason{Code: FinalizersHold}
	}
	for e := range s.Dependents(id) {
		if s.Blocks(e) {
			return Reason{Code: DependentsBlock, Cause: e.Dependent, HasCause: true}
		}
	}
	r := Reason{Code: DependentsBlock}
	r.Cause, r.HasCause = s.firstContained(id)
	return r
}

// firstContained returns the first of the objects that a definition or namespace waits for. It is asked when the simulation has ended.
func (s *simulation) firstContained(container graph.ID) (graph.ID, bool) {
	if s.contained == nil {
		s.contained = map[graph.ID]graph.ID{}
		for o, c := range s.containers {
			if first, known := s.contained[c]; !s.is(o, gone) && (!known || o < first) {
				s.contained[c] = o
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
		var names []string
		for _, f := range s.Graph.Finalizers(id) {
			if f != OrphanFinalizer && f != ForegroundFinalizer {
				names = append(names, f)
			}
		}
		if len(names) > 0 {
			blockers = append(blockers, Blocker{Object: id, Finalizers: names})
		}
	}
	return blockers
}

// remaining returns what another simulation deletes and this one does not.
func (s *simulation) remaining(other *simulation) []Survivor {
	var remaining []Survivor
	for _, id := range other.deleted() {
		switch {
		case s.is(id, gone):
		case s.is(id, deleting):
			remaining = append(remaining, Survivor{Object: id, Because: s.waitsFor(id)})
		default:
			r := s.keeps(id)
			if r.Code == OwnedByAnother {
				r.Code = OwnerStays
			}
			remaining = append(remaining, Survivor{Object: id, Because: r})
		}
	}
	return remaining
}
