package plan

import (
	"maps"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Actor is the objects that a controller needs to remove a finalizer: a workload, its
// ServiceAccount, what permits it to write, and what it reads.
type Actor []graph.ID

// Removers are those who can remove one finalizer of an object: one of them is enough.
type Removers []Actor

// Needs are, by object, the controllers that it needs until it is deleted: one of each Removers.
type Needs map[graph.ID][]Removers

// goes returns the first part of an actor that goes, and was not deleted only when the stage of an
// object was over.
func (a Actor) goes(s *simulation, id graph.ID) (graph.ID, bool) {
	for _, part := range a {
		if s.is(part, stops(s.Graph.Ref(part))) && s.inStage(part) <= s.inStage(id) {
			return part, true
		}
	}
	return 0, false
}

// stops says when an object is of no use any more: a workload once it is being deleted, since its
// pods go then; what is only read once it is gone.
func stops(ref graph.Ref) objectState {
	if ref.Group() == "apps" {
		return deleting | gone
	}
	return gone
}

// With plans the same deletion with what was found out about who removes finalizers. An object is
// not released if all who can remove one of its finalizers go, and not only once it is gone. How
// long an actor takes for its work is not known, so that whatever goes meanwhile counts as gone
// before.
func (p *Plan) With(needs Needs) *Plan {
	held := p.candidates(needs)
	for len(held) > 0 {
		opts := p.options
		opts.held = held
		s, start := carriedOut(p.Graph, p.Roots, p.Policy, opts)
		lost := map[graph.ID]graph.ID{}
		for id := range held {
			if part, goes := s.lacks(id, needs[id]); goes {
				lost[id] = part
			}
		}
		if len(lost) == len(held) {
			maps.Copy(held, lost) // which the simulation has among its options
			return planOf(s, start, p.asUnreleased(held))
		}
		held = lost
	}
	if len(p.options.held) == 0 {
		return p
	}
	opts := p.options
	opts.held = nil
	return New(p.Graph, p.Roots, p.Policy, opts)
}

// candidates are the objects that can be held: if all finalizers are removed, most goes, and what
// is needed for them among it.
func (p *Plan) candidates(needs Needs) map[graph.ID]graph.ID {
	all := &simulation{Projection: p.end, options: p.options, staged: p.staged}
	held := map[graph.ID]graph.ID{}
	for id, needed := range needs {
		if part, goes := all.lacks(id, needed); goes || len(p.options.held) > 0 {
			held[id] = part
		}
	}
	return held
}

// asUnreleased is what happens as long as the finalizers of others are not removed, if that is the
// same whatever is held: a namespace that is held waits for more than these, and strict deletions
// begin otherwise.
func (p *Plan) asUnreleased(held map[graph.ID]graph.ID) *simulation {
	if p.options.Strict || len(p.options.held) > 0 {
		return nil
	}
	for id := range held {
		if rule, is := link.Of(p.Graph.Ref(id)); is && rule.Finalizes {
			return nil
		}
	}
	return p.unreleased
}

// lacks reports whether all go of those who can remove a finalizer, and with which part of the
// first.
func (s *simulation) lacks(id graph.ID, needed []Removers) (graph.ID, bool) {
	for _, removers := range needed {
		if part, goes := removers.allGo(s, id); goes {
			return part, true
		}
	}
	return 0, false
}

func (r Removers) allGo(s *simulation, id graph.ID) (graph.ID, bool) {
	var first graph.ID
	for i, a := range r {
		part, goes := a.goes(s, id)
		if !goes {
			return 0, false
		}
		if i == 0 {
			first = part
		}
	}
	return first, len(r) > 0
}
