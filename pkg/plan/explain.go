package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// explain adds what shows only when the end of the deletion is known.
func (p *Plan) explain() {
	deleted := newSet(p.Graph, p.Deleted)
	p.explainDeletes(deleted)
	p.NonBlocking = p.nonBlocking(deleted)
	p.Recreated = p.recreated()
	p.Cycles = p.cycles()
	if len(p.Cycles) == 0 {
		return
	}
	p.DependsOnTiming = p.DependsOnTiming || slices.ContainsFunc(p.Cycles, p.avoidable)
	members := newSet(p.Graph, p.Cycles...)
	for i, s := range p.Deadlocked {
		if members[s.Object] {
			p.Deadlocked[i].Because = Reason{Code: ForegroundCycle}
		}
	}
}

// avoidable reports whether the collector can break a cycle because it comes between the deletes of
// its members (GC-054, GC-064): it has more than one, and not all of them were waiting before.
func (p *Plan) avoidable(cycle []graph.ID) bool {
	return len(cycle) > 1 && slices.ContainsFunc(cycle, func(id graph.ID) bool {
		return p.Graph.State(id) != graph.Deleting || !slices.Contains(p.Graph.Finalizers(id), ForegroundFinalizer)
	})
}

const mismatch = graph.WrongNamespace | graph.WrongName | graph.WrongKind

// mismatched reports whether the collector does not find a seen owner, because the reference with
// its uid names something else (GC-047, X-01).
func mismatched(g *graph.Graph, e graph.Edge) bool {
	return e.Problem&mismatch != 0 && e.Problem&(graph.Unresolvable|graph.WrongScope) == 0 && g.Observed(e.Owner)
}

// mismatched says the same where a live read has shown an owner that lies outside the listing.
func (p *Plan) mismatched(e graph.Edge) bool {
	return mismatched(p.Graph, e) || p.end.proven[e.Index] == Mismatch
}

// explainDeletes names as the cause of the collector's deletes what a person needs to know first: a
// reference because of which an object goes though its owner lives; and an owner that finalizers
// hold, without which the object would go sooner.
func (p *Plan) explainDeletes(deleted set) {
	for i := range p.Actions {
		a := &p.Actions[i]
		if a.Verb != VerbDelete || a.Because.Code != OwnersGone && a.Because.Code != OwnerWaiting {
			continue
		}
		for e := range p.Graph.Owners(a.Object) {
			if p.mismatched(e) && (!deleted[e.Owner] || e.Owner == a.Because.Cause && a.Because.HasCause) {
				a.Because = Reason{Code: OwnerMismatch, Cause: e.Owner, HasCause: true}
				if !deleted[e.Owner] {
					break
				}
			}
		}
		if a.Because.Code == OwnersGone {
			p.preferBlocked(a)
		}
	}
}

// preferBlocked makes the first owner that has finalizers of others the cause: a dependent goes
// only after the last of its owners (GC-046).
func (p *Plan) preferBlocked(a *Action) {
	for e := range p.Graph.Owners(a.Object) {
		if b, ok := p.Blocker(e.Owner); ok && len(b.Finalizers) > 0 {
			a.Because.Cause, a.Because.HasCause = e.Owner, true
			return
		}
	}
}

// Surprises are the deletes of objects that have an owner which lives on under other coordinates
// than the reference to it says.
func (p *Plan) Surprises() []Action {
	deleted := newSet(p.Graph, p.Deleted)
	var surprises []Action
	for _, a := range p.Actions {
		if a.Because.Code == OwnerMismatch && !deleted[a.Because.Cause] {
			surprises = append(surprises, a)
		}
	}
	return surprises
}

// Overridden are the objects that were to orphan their dependents, by a finalizer of their own, and
// that the collector deletes in the foreground all the same, because an owner waits for them: their
// dependents go too (GC-054, X-13).
func (p *Plan) Overridden() []graph.ID {
	var overridden []graph.ID
	for _, a := range p.Actions {
		if a.Verb == VerbDelete && a.By == ByCollector && a.Policy == Foreground &&
			slices.Contains(p.Graph.Finalizers(a.Object), OrphanFinalizer) {
			overridden = append(overridden, a.Object)
		}
	}
	return overridden
}

// Reference returns the reference of an object that a reason is about: one that names something
// else than its owner is (OwnerMismatch), or that the collector cannot judge (OwnerUnresolved).
func Reference(g *graph.Graph, object graph.ID, r Reason) (graph.Edge, bool) {
	for e := range g.Owners(object) {
		if !r.HasCause || e.Owner != r.Cause {
			continue
		}
		switch r.Code {
		case OwnerMismatch:
			if mismatched(g, e) {
				return e, true
			}
		case OwnerUnresolved:
			if e.Problem&(graph.Unresolvable|graph.WrongScope) != 0 || g.State(e.Owner) == graph.Unknown {
				return e, true
			}
		}
	}
	return graph.Edge{}, false
}

// nonBlocking returns the references from objects of a foreground cascade to owners that do not
// wait for them (GC-061).
func (p *Plan) nonBlocking(deleted set) []graph.Edge {
	if p.Policy != Foreground {
		return nil
	}
	waiting := make(set, p.Graph.Len())
	for _, a := range p.Actions {
		if a.Verb == VerbDelete && a.Policy == Foreground && deleted[a.Object] {
			waiting[a.Object] = true
		}
	}
	var edges []graph.Edge
	for _, id := range p.Deleted {
		for e := range p.Graph.Owners(id) {
			if waiting[e.Owner] && e.Owner != id && !p.end.Blocking(e) && !p.blocksOtherwise(e) {
				if len(edges) == cap(edges) { // append would copy them more often
					edges = slices.Grow(edges, max(64, len(edges)))
				}
				edges = append(edges, e)
			}
		}
	}
	return edges
}

// blocksOtherwise reports whether another reference of the same object to the same owner blocks, or
// the same was found before.
func (p *Plan) blocksOtherwise(e graph.Edge) bool {
	for other := range p.Graph.Owners(e.Dependent) {
		if other.Owner == e.Owner && (other.Block || other.Index < e.Index) {
			return true
		}
	}
	return false
}
