package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// deleted returns what was there and is gone.
func (s *simulation) deleted() []graph.ID {
	return s.pick(func(id graph.ID) bool { return s.is(id, gone) })
}

// Completed are those of the Deleted whose deletion began before, since what they waited for goes;
// sorted.
func (p *Plan) Completed() []graph.ID {
	var ids []graph.ID
	for _, id := range p.Deleted {
		if p.Graph.State(id) == graph.Deleting {
			ids = append(ids, id)
		}
	}
	return ids
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

// Awaited are the objects that an owner, a namespace or a CRD waits for as long as the finalizers of
// others are not removed, sorted; none of what waits for nothing else.
func (p *Plan) Awaited(id graph.ID) []graph.ID {
	s := p.unreleased
	if s == nil || s.is(id, gone) {
		return nil
	}
	var awaited []graph.ID
	if rule, ok := link.Of(s.Graph.Ref(id)); ok && s.is(id, cleanup) {
		awaited = s.existing(s.content(id, rule), func(graph.ID) bool { return true })
	}
	if s.Waits(id) {
		for e := range s.Dependents(id) {
			if s.Blocks(e) {
				awaited = append(awaited, e.Dependent)
			}
		}
	}
	slices.Sort(awaited)
	return slices.Compact(awaited)
}

// Stuck are those of Deadlocked that wait, directly or not, for what nobody does: finalizers whose
// actors go first, and objects whose deletion the server refuses; sorted.
func (p *Plan) Stuck() []ObjectReason {
	waits := make(map[graph.ID]Reason, len(p.Deadlocked))
	for _, d := range p.Deadlocked {
		waits[d.Object] = d.Because
	}
	known := make(map[graph.ID]bool, len(p.Deadlocked))
	for id := range p.options.protected {
		known[id] = true
	}
	var stuck []ObjectReason
	for _, d := range p.Deadlocked {
		var way []graph.ID
		is := false
		for id := d.Object; ; id = waits[id].Cause {
			r, waiting := waits[id]
			verdict, seen := known[id]
			if seen || !waiting || !r.HasCause || r.isStuck() {
				is = verdict || waiting && r.isStuck()
				break
			}
			known[id] = false // so that a cycle ends here
			way = append(way, id)
		}
		for _, id := range way {
			known[id] = is
		}
		if is {
			stuck = append(stuck, d)
		}
	}
	return stuck
}

// TakesRounds says of the namespaces, by name, to which the namespace controller has to come back,
// and then asks for discovery again: pods take time to terminate, and finalizers to be removed.
func TakesRounds(g *graph.Graph) map[string]bool {
	names := map[string]bool{}
	for id := range g.IDs() {
		if !g.Observed(id) {
			continue
		}
		if ref := g.Ref(id); ref.Namespace != "" &&
			(ref.Resource == "pods" && ref.Group() == "" || len(g.Finalizers(id)) > 0) {
			names[ref.Namespace] = true
		}
	}
	return names
}

// isStuck says that nobody does what an object waits for.
func (r Reason) isStuck() bool {
	return r.Code == ActorDeleted || r.Code == DiscoveryFails || r.Code == LinkRefused
}

// NotDeleted returns the objects that a loop may write to and has not deleted when it came to its
// end, and why: those that are terminating and wait for somebody else, and those of which it could
// not resolve an owner.
func (o *Projection) NotDeleted(may func(graph.ID) bool) []ObjectReason {
	s := &simulation{Projection: o, options: Options{Rules: Loop}}
	var rest []ObjectReason
	for id := range o.Graph.IDs() {
		switch {
		case !o.Graph.Observed(id) || o.Gone(id) || may != nil && !may(id):
		case o.Deleting(id):
			rest = append(rest, ObjectReason{Object: id, Because: s.waitsFor(id)})
		case o.Candidate(id):
			item, _, cause := s.item(id)
			switch Decide(item, Loop).Do {
			case Unresolvable, Nothing, Later: // one owner is solid, or nothing can be judged (P-21)
				rest = append(rest, ObjectReason{Object: id, Because: s.whyKept(id)})
			case Delete, RemoveOwnerRefs:
				cause.Code = NotDone
				rest = append(rest, ObjectReason{Object: id, Because: cause})
			}
		}
	}
	return rest
}
