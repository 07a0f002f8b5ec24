package plan

import (
	"cmp"
	"iter"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// What objects name in their content goes along too, if a program deletes it: the program sees the deletion of one side of a link by a finalizer, deletes the
// other side, waits for it or not, and removes its finalizer. Nothing of this rests on ownerReferences, so it comes on top of what the collector does.

// begin looks, when an object is being deleted, whether programs delete what a link ties to it.
func (s *simulation) begin(id graph.ID) {
	if s.options.Links == nil || s.is(id, begun) {
		return
	}
	s.objects[id] |= begun
	for f := range s.links(id) {
		switch s.effect(f) {
		case LinkDeleted:
			s.objects[id] |= linked
		case LinkKept, LinkNotSeen:
			if d := f.Dependent(); !s.is(d, gone) {
				s.touch(d)
			}
		}
	}
}

// links iterates over the links below an object.
func (s *simulation) links(owner graph.ID) iter.Seq[*link.Found] {
	return each(s.options.Links.Found(owner))
}

func each(found []link.Found) iter.Seq[*link.Found] {
	return func(yield func(*link.Found) bool) {
		for i := range found {
			if !yield(&found[i]) {
				return
			}
		}
	}
}

// travels says whether a deletion can travel along a link.
func travels(f *link.Found) bool {
	of := f.Definition.Deletion.Of
	return (of == link.End || of == link.Source) && f.Source != f.End
}

// effect says what the deletion of a link's owner does to its dependent: LinkDeleted, or why it is not deleted; nothing if the link is only shown.
func (s *simulation) effect(f *link.Found) ReasonCode {
	switch {
	case !travels(f):
		return ""
	case !s.seen(f):
		return LinkNotSeen
	case !f.Deletes():
		return LinkKept
	case f.Definition.Deletion.Finalizer != "" && !s.frees(f.Owner()):
		return LinkPending // who removes no finalizer deletes nothing either
	}
	return LinkDeleted
}

// seen says whether the program sees the deletion of a link's owner.
func (s *simulation) seen(f *link.Found) bool {
	d := f.Definition.Deletion
	return d.Finalizer == "" || slices.ContainsFunc(s.Graph.Finalizers(f.Owner()), d.Holds)
}

// followLinks is one round of the programs for an object that is being deleted. It is nil if there is nothing to do, or nothing but to wait.
func (s *simulation) followLinks(id graph.ID) func() {
	if !s.is(id, linked) {
		return nil
	}
	_, sent := s.firstAwaited[id]
	if sent && s.awaited(id) != nil {
		return nil
	}
	var due []company
	for f := range s.links(id) {
		if d := f.Dependent(); !sent && s.effect(f) == LinkDeleted && !s.is(d, gone) {
			due = append(due, company{[]graph.ID{d}, Reason{Code: LinkDeleted, Cause: id, HasCause: true, Link: f}, s.linkPolicy(f)})
		}
	}
	slices.SortStableFunc(due, func(a, b company) int { return cmp.Compare(a.objects[0], b.objects[0]) })
	return func() {
		for _, c := range due {
			s.accompany(id, c)
		}
		switch {
		case s.is(id, gone):
		case s.awaited(id) != nil:
			s.Enqueue(id) // the collector does its part meanwhile
		case s.frees(id):
			s.clear(id, linked|foreignFinalizers)
		default:
			s.clear(id, linked)
		}
	}
}

// awaited is the first link of an object whose program waits until its dependent is gone, nil if there is none. What is gone does not come back, so that those
// before it need not be looked at again: an owner of thousands is asked after each of them.
func (s *simulation) awaited(id graph.ID) *link.Found {
	found := s.options.Links.Found(id)
	at := s.firstAwaited[id]
	for at < len(found) && !(found[at].Effect.Waits && s.effect(&found[at]) == LinkDeleted && !s.is(found[at].Dependent(), gone)) {
		at++
	}
	if s.firstAwaited == nil {
		s.firstAwaited = map[graph.ID]int{}
	}
	s.firstAwaited[id] = at
	if at == len(found) {
		return nil
	}
	return &found[at]
}

// linkPolicy is how the program deletes, once.
func (s *simulation) linkPolicy(f *link.Found) func(graph.ID) (Policy, bool) {
	return func(id graph.ID) (Policy, bool) {
		policy := Background
		if f.Effect.Policy == link.Foreground {
			policy = Foreground
		}
		return policy, !s.is(id, deleting)
	}
}

// until are the objects that programs wait for before they remove a finalizer of another, sorted.
func (s *simulation) until(id graph.ID) []graph.ID {
	if s.options.Links == nil {
		return nil
	}
	var until []graph.ID
	for f := range s.links(id) {
		if d := f.Dependent(); f.Effect.Waits && f.Deletes() && travels(f) && s.seen(f) && s.Graph.Observed(d) {
			until = append(until, d)
		}
	}
	slices.Sort(until)
	return slices.Compact(until)
}

// waitsForLink says which link makes an object wait.
func (s *simulation) waitsForLink(id graph.ID) (Reason, bool) {
	if !s.is(id, linked) {
		return Reason{}, false
	}
	f := s.awaited(id)
	if f == nil {
		return Reason{}, false
	}
	return Reason{Code: LinkWaits, Cause: f.Dependent(), HasCause: true, Link: f}, true
}

// spared says by which link an object is left although the other side is being deleted.
func (s *simulation) spared(id graph.ID) (Reason, bool) {
	if s.options.Links == nil {
		return Reason{}, false
	}
	for f := range each(s.options.Links.Above(id)) {
		owner := f.Owner()
		if code := s.effect(f); code != "" && code != LinkDeleted && s.is(owner, begun) {
			return Reason{Code: code, Cause: owner, HasCause: true, Link: f}, true
		}
	}
	return Reason{}, false
}
