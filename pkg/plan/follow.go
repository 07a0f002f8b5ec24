package plan

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// What objects name in their content goes along too, if a program deletes it: the program sees the
// deletion of one side of a link by a finalizer, deletes the other side, waits for it or not, and
// removes its finalizer. Nothing of this rests on ownerReferences, so it comes on top of what the
// collector does.

// begin looks, when an object is being deleted, whether programs delete what a link ties to it.
func (s *simulation) begin(id graph.ID) {
	if s.is(id, begun) {
		return
	}
	s.objects[id] |= begun
	found := s.options.Links.Found(id)
	for i := range found {
		f := &found[i]
		if s.halts(f) {
			s.objects[id] |= linked
		}
		switch s.effect(f) {
		case LinkDeleted:
			s.objects[id] |= linked
		case LinkRefused:
			s.await(id, f.Dependent())
			if account, ok := accountOf(s.Graph, f); ok {
				s.await(id, account)
			}
			fallthrough
		case LinkKept, LinkNotSeen:
			if d := f.Dependent(); !s.is(d, gone) {
				s.touch(d)
			}
		}
	}
}

// travels reports whether a deletion can travel along a link.
func travels(f *link.Found) bool {
	of := f.Definition.Deletion.Of
	return (of == link.End || of == link.Source) && f.Source != f.End
}

// effect says what the deletion of a link's owner does to its dependent: LinkDeleted, or why it is
// not deleted; nothing if the link is only shown.
func (s *simulation) effect(f *link.Found) ReasonCode {
	switch {
	case !travels(f), s.deniedAgain(f):
		return ""
	case !seen(s.Graph, f):
		return LinkNotSeen
	case !f.Tries(), s.options.sparing[f.Dependent()]:
		return LinkKept
	case f.Refused != "":
		return LinkRefused
	case !s.frees(f.Owner()) && (f.Definition.Deletion.Finalizer != "" || s.is(f.Owner(), foreignFinalizers)):
		return LinkPending // who removes no finalizer deletes nothing either, nor who only sees that the owner is gone
	}
	return LinkDeleted
}

// deniedAgain reports whether a program repeats a deletion that the server has refused, as its
// guard is gone, and the server refuses it again, since another guard stays.
func (s *simulation) deniedAgain(f *link.Found) bool {
	return f.Definition.Deletion.Annotation != "" && slices.ContainsFunc(s.options.Links.Found(f.End),
		func(g link.Found) bool {
			return g.Definition.Deletion.Of == link.Guard && g.Source != f.Source && !s.is(g.Source, gone|deleting)
		})
}

// seen reports whether the program sees the deletion of a link's owner.
func seen(g *graph.Graph, f *link.Found) bool {
	d := f.Definition.Deletion
	return d.Finalizer == "" || slices.ContainsFunc(g.Finalizers(f.Owner()), d.Holds)
}

// accountOf is the ServiceAccount as which a program acts.
func accountOf(g *graph.Graph, f *link.Found) (graph.ID, bool) {
	if f.Account == "" {
		return 0, false
	}
	return g.Find("", "serviceaccounts", g.Namespace(f.Source), f.Account)
}

// refused is the first object that is there and that a program cannot delete before it lets another
// one go. Once its account is gone it does not try any more.
func (s *simulation) refused(id graph.ID) (graph.ID, bool) {
	found := s.options.Links.Found(id)
	for i := range found {
		if f := &found[i]; s.effect(f) == LinkRefused && !s.is(f.Dependent(), gone) {
			account, ok := accountOf(s.Graph, f)
			return f.Dependent(), !ok || !s.is(account, gone)
		}
	}
	return 0, false
}

// lets reports whether others remove their finalizers now.
func (s *simulation) lets(id graph.ID) bool {
	_, refused := s.refused(id)
	return !refused && s.frees(id)
}

// followed is how far the programs have come with the links of an object that is being deleted.
type followed struct {
	// turn is the one whose deletes were sent last, and at the first of the links whose program
	// waits. What is gone does not come back, so that those before it need not be looked at again:
	// an owner of thousands is asked after each of them.
	turn, at int
}

// halts reports whether a program does nothing for a link's owner as long as its dependent is
// there, which somebody has deleted before.
func (s *simulation) halts(f *link.Found) bool {
	d := f.Dependent()
	return f.Halts && s.is(d, deleting) && !s.is(d, gone) && travels(f) && seen(s.Graph, f)
}

// halting are the objects that have the programs of an object do nothing.
func (s *simulation) halting(id graph.ID) []graph.ID {
	var halting []graph.ID
	found := s.options.Links.Found(id)
	for i := range found {
		if s.halts(&found[i]) {
			halting = append(halting, found[i].Dependent())
		}
	}
	return halting
}

// followLinks is one round of the programs for an object that is being deleted. It is nil if there
// is nothing to do, or nothing but to wait.
func (s *simulation) followLinks(id graph.ID) func() {
	if !s.is(id, linked) || s.afterwards(id) || s.awaited(id) != nil {
		return nil
	}
	var due []company
	turn, next := s.nextTurn(id)
	switch halting := s.halting(id); {
	case len(halting) > 0 && s.awaits(id, halting[0]):
		return nil
	case len(halting) > 0:
		next = false
		due = []company{{halting, Reason{}, func(graph.ID) (Policy, bool) { return "", false }}}
	case next:
		due = s.due(id, turn)
	}
	return func() {
		if next {
			s.followed[id] = followed{turn, s.followed[id].at}
		}
		for _, c := range due {
			s.accompany(id, c)
		}
		switch {
		case s.is(id, gone):
		case s.awaited(id) != nil, len(s.halting(id)) > 0:
			s.Enqueue(id) // the collector does its part meanwhile
		case s.moreTurns(id):
			s.Enqueue(id)
		case s.lets(id):
			s.clear(id, linked|foreignFinalizers)
		default:
			s.clear(id, linked)
		}
	}
}

// afterwards reports whether programs delete what an object's links tie to it only once the object
// is gone, which it is not yet: they have no finalizer on it by which they would see its deletion.
func (s *simulation) afterwards(id graph.ID) bool {
	return s.is(id, foreignFinalizers|orphan|foreground|cleanup) &&
		!slices.ContainsFunc(s.options.Links.Found(id),
			func(f link.Found) bool { return f.Definition.Deletion.Finalizer != "" })
}

// nextTurn is the first turn of the links of an object whose deletes were not sent; false if there
// is none.
func (s *simulation) nextTurn(id graph.ID) (int, bool) {
	last, sent := s.followed[id]
	found := s.options.Links.Found(id)
	for i := range found { // in the order of their turns
		if turn := found[i].Turn(); (!sent || turn > last.turn) && s.effect(&found[i]) == LinkDeleted {
			return turn, true
		}
	}
	return 0, false
}

func (s *simulation) moreTurns(id graph.ID) bool {
	_, more := s.nextTurn(id)
	return more
}

// due are the deletes that a program sends in a turn.
func (s *simulation) due(id graph.ID, turn int) []company {
	var due []company
	found := s.options.Links.Found(id)
	for i := range found {
		f := &found[i]
		if d := f.Dependent(); f.Turn() == turn && s.effect(f) == LinkDeleted && !s.is(d, gone) {
			due = append(due, company{[]graph.ID{d}, Reason{Code: LinkDeleted, Cause: id, HasCause: true}, s.linkPolicy(f)})
		}
	}
	slices.SortStableFunc(due, func(a, b company) int { return cmp.Compare(a.objects[0], b.objects[0]) })
	return due
}

// awaited is the first link of an object whose dependent was deleted and whose program waits until
// that is gone, nil if there is none.
func (s *simulation) awaited(id graph.ID) *link.Found {
	last, sent := s.followed[id]
	if !sent {
		return nil
	}
	found := s.options.Links.Found(id)
	at := last.at
	for at < len(found) && found[at].Turn() <= last.turn &&
		!(found[at].Effect.Waits && s.effect(&found[at]) == LinkDeleted && !s.is(found[at].Dependent(), gone)) {
		at++
	}
	s.followed[id] = followed{last.turn, at}
	if at == len(found) || found[at].Turn() > last.turn {
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

// waitsForLink says which link makes an object wait.
func (s *simulation) waitsForLink(id graph.ID) (Reason, bool) {
	if !s.is(id, linked) {
		return Reason{}, false
	}
	if f := s.awaited(id); f != nil {
		return Reason{Code: LinkWaits, Cause: f.Dependent(), HasCause: true}, true
	}
	if halting := s.halting(id); len(halting) > 0 {
		return Reason{Code: LinkWaits, Cause: halting[0], HasCause: true}, true
	}
	return Reason{}, false
}

// spared says by which link an object is left although the other side is being deleted.
func (s *simulation) spared(id graph.ID) (Reason, bool) {
	above := s.options.Links.Above(id)
	for i := range above {
		f := &above[i]
		owner := f.Owner()
		if code := s.effect(f); code != "" && code != LinkDeleted && s.is(owner, begun) {
			return Reason{Code: code, Cause: owner, HasCause: true}, true
		}
	}
	return Reason{}, false
}

// Until returns the objects that programs wait for before they remove a finalizer of an object that
// is deleted, sorted.
func (p *Plan) Until(id graph.ID) []graph.ID {
	var until []graph.ID
	found := p.options.Links.Found(id)
	for i := range found {
		f := &found[i]
		d, waits := f.Dependent(), f.Effect.Waits && f.Deletes() || p.halted(f)
		if waits && travels(f) && seen(p.Graph, f) && p.Graph.Observed(d) {
			until = append(until, d)
		}
	}
	slices.Sort(until)
	return slices.Compact(until)
}

// halted reports whether the dependent of a link is being deleted already, and its program waits
// for that.
func (p *Plan) halted(f *link.Found) bool {
	return f.Halts && p.Graph.State(f.Dependent()) == graph.Deleting
}

// Once is the first object with finalizers that has to be gone before a program sends the delete of
// a link's dependent: one of an earlier turn, or one for which it waits because somebody has deleted
// that; false if there is none.
func (p *Plan) Once(f link.Found) (graph.ID, bool) {
	found := p.options.Links.Found(f.Owner())
	turn, earlier := f.Turn(), true
	for i := range found { // in the order of their turns
		other := &found[i]
		earlier = earlier && other.Turn() < turn
		before := earlier && other.Effect.Waits && other.Deletes() || p.halted(other)
		if d := other.Dependent(); before && d != f.Dependent() && travels(other) && seen(p.Graph, other) {
			if b, ok := p.Blocker(d); ok && len(b.Finalizers) > 0 {
				return d, true
			}
		}
	}
	return 0, false
}

// LinkDeleters returns the objects whose deletion has programs delete an object because of links,
// and how long after the last of them is gone that is over. There are none if a program can do so
// without a finalizer on one of them, whose end would show that it has done what it does, and it is
// not known how long that takes.
func (p *Plan) LinkDeleters(id graph.ID) (deleters []graph.ID, within metav1.Duration) {
	s := &simulation{Projection: p.end, options: p.options, release: true}
	above := p.options.Links.Above(id)
	for i := range above {
		f, d := &above[i], above[i].Definition.Deletion
		switch {
		case s.effect(f) != LinkDeleted:
		case d.Finalizer == "" && d.Within.Duration == 0, !p.Graph.Observed(f.Owner()):
			return nil, metav1.Duration{}
		default:
			deleters = append(deleters, f.Owner())
			within.Duration = max(within.Duration, d.Within.Duration)
		}
	}
	return deleters, within
}

// Sparing returns what the same deletion deletes if programs leave some objects alone that they
// were to delete because of links.
func (p *Plan) Sparing(ids map[graph.ID]bool) []graph.ID {
	opts := p.options
	opts.sparing = ids
	if p.Policy == "" {
		return NewOngoing(p.Graph, p.Roots, opts).Deleted
	}
	s, _ := carriedOut(p.Graph, p.Roots, p.Policy, opts)
	return s.deleted()
}

// Link returns the link that the reason of an object is about; false for reasons that are about
// none. The cause is on its other side.
func (p *Plan) Link(object graph.ID, r Reason) (link.Found, bool) {
	owner, dependent := r.Cause, object
	switch r.Code {
	case LinkFirst, LinkDeleted, LinkPending, LinkKept, LinkNotSeen:
	case LinkWaits, LinkForeground:
		owner, dependent = object, r.Cause
	case LinkRefused:
		if p.end.is(object, deleting) {
			owner, dependent = object, r.Cause
		}
	default:
		return link.Found{}, false
	}
	if !r.HasCause {
		return link.Found{}, false
	}
	for _, f := range p.options.Links.Above(dependent) {
		if f.Owner() != owner || !travels(&f) {
			continue
		}
		switch {
		case !seen(p.Graph, &f):
			if r.Code == LinkNotSeen {
				return f, true
			}
		case r.Code == LinkRefused:
			if f.Refused != "" {
				return f, true
			}
		case f.Deletes() == (r.Code != LinkKept) && r.Code != LinkNotSeen && (r.Code != LinkWaits || f.Effect.Waits):
			return f, true
		case r.Code == LinkWaits && p.halted(&f):
			return f, true
		}
	}
	return link.Found{}, false
}
