package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// The collector takes up what is due side by side, and what a cascade ends in can depend on what it
// comes to first. The loop of package collect goes over what is due in turns, in the order that
// keeps more, and the plan of what it does goes over it alike (RO-008).

// Turn is one of the turns in which the loop goes over what is due. What a turn does not do is
// judged again in the next.
type Turn uint8

const (
	// anyTurn is that of whoever takes no turns.
	anyTurn Turn = iota
	// CarriersTurn removes references from objects that carry the finalizer orphan. Once their
	// other owners are gone they would be deleted in the foreground for the sake of owners that
	// wait, and their dependents with them (GC-054).
	CarriersTurn
	// DeletesTurn deletes. What loses the last owner that does not wait is deleted with its
	// reference to the one that does, which waits for it then.
	DeletesTurn
	// ReferencesTurn removes references, to owners that are gone or wait, and to those that orphan
	// their dependents.
	ReferencesTurn
)

// Turns are those of the loop, in their order. When nothing is due any more it releases the owners
// that have nothing left to wait for.
var Turns = []Turn{CarriersTurn, DeletesTurn, ReferencesTurn}

// LooksAt says whether an object is looked at in the turn.
func (t Turn) LooksAt(o *Projection, id graph.ID) bool {
	switch t {
	case CarriersTurn:
		return o.is(id, orphan) && !o.is(id, deleting)
	case DeletesTurn:
		return !o.Orphans(id)
	case anyTurn, ReferencesTurn:
	}
	return true
}

// Takes says whether what was decided about an object is done in the turn.
func (t Turn) Takes(item Item, v Decision) bool {
	switch t {
	case CarriersTurn:
		return item.Orphan && v.Do == RemoveOwnerRefs
	case DeletesTurn:
		return v.Do != RemoveOwnerRefs
	case anyTurn, ReferencesTurn:
	}
	return true
}

// OneByOne parts objects that are due into members of cycles and others. Of the members the loop
// decides about one and acts before it decides about the next: two at a time would wait for each
// other forever (GC-064).
func OneByOne(g *graph.Graph, due []graph.ID) (alone, together []graph.ID) {
	if len(g.Cycles()) == 0 {
		return nil, due
	}
	for _, id := range due {
		if _, inCycle := g.Cycle(id); inCycle {
			alone = append(alone, id)
		} else {
			together = append(together, id)
		}
	}
	return alone, together
}

// finishing is what a simulation of the loop knows of owners that it releases.
type finishing struct {
	// pass is how many passes have begun after the first. Seen says in which one an owner was seen
	// to have nothing left to wait for; it is negative where the first listing shows its dependents.
	pass int
	seen map[graph.ID]int
	// ready are those that are released in this pass, and next those that are in the next.
	ready, next []graph.ID
}

// firstSeen returns in which pass an owner was seen first, which is this one if it was not.
func (f *finishing) firstSeen(id graph.ID, now int) int {
	if f.seen == nil {
		f.seen = map[graph.ID]int{}
	}
	first, seen := f.seen[id]
	if !seen {
		first, f.seen[id] = now, now
	}
	return first
}

// finishLater notes an owner that has nothing left to wait for. The loop releases it in the next
// pass, if it has not seen that in one before, or has just orphaned dependents of it.
func (s *simulation) finishLater(id graph.ID, orphaned bool) {
	f := &s.finishing
	if f.firstSeen(id, f.pass) < f.pass && !orphaned {
		f.ready = append(f.ready, id)
	} else {
		f.next = append(f.next, id)
	}
}

// finish releases the owners that have nothing left to wait for, those of the next pass if there
// are none in this, and says whether something is due then.
func (s *simulation) finish() bool {
	f := &s.finishing
	for !s.hasWork() && len(f.ready)+len(f.next) > 0 {
		if len(f.ready) == 0 {
			f.pass++
			f.ready, f.next = f.next, nil
		}
		now := f.ready
		slices.Sort(now)
		f.ready = nil
		if n := len(s.actions); n == 0 || s.actions[n-1].Wave == s.wave {
			s.wave++
		}
		for _, id := range now {
			switch {
			case s.Orphans(id):
				s.removeFinalizer(id, orphan, Orphaned)
			case s.Waits(id) && !s.Blocked(id):
				s.removeFinalizer(id, foreground, NoBlockers)
			}
		}
	}
	return s.hasWork()
}
