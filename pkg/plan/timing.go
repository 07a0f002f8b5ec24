package plan

import (
	"container/heap"
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// What a deletion ends in does not depend, as a rule, on what the collector takes up first: an
// object goes with the last of its owners, whenever that is seen. It does where an owner orphans,
// because that changes what its dependents refer to: whether they lose the reference to another
// owner before that, for the sake of the one that orphans (GC-053), or after it, when none is left
// (GC-067); and whether the owner orphans at all, or is deleted in the foreground for the sake of
// its own owner (GC-054). It does in cycles (GC-064). What others hold does not wait for its
// dependents any more once the collector has seen that none blocks it (GC-061). And an object that
// is never gone keeps its owners waiting, unless it has lost its references to them for the sake of
// a root that was deleted a moment later. Where there is any of this, the deletion is simulated in
// other orders too.

// unsettled returns the objects that can end otherwise than in the simulation, which began so,
// because the collector is free to take up things in another order; sorted. It is no proof that
// there are no more.
func (s *simulation) unsettled(begin func(*simulation)) []graph.ID {
	if !s.orderMatters() {
		return nil
	}
	differ := map[graph.ID]bool{}
	untouched := NewProjection(s.Graph, s.options)
	for _, o := range orders(len(s.touched)) {
		other := &simulation{
			Projection: untouched.clone(), options: s.options, release: s.release, containers: map[graph.ID]graph.ID{},
			orphaned: map[graph.ID]bool{},
			followed: map[graph.ID]followed{}, unreached: map[graph.ID]graph.ID{}, order: o, silent: true,
		}
		begin(other)
		other.drain()
		s.compare(other, differ)
	}
	return slices.Sorted(maps.Keys(differ))
}

// compare adds the objects that do not end alike in two simulations.
func (s *simulation) compare(other *simulation, differ map[graph.ID]bool) {
	const end = gone | deleting | orphan | foreground | foreignFinalizers
	for _, id := range append(other.touched, s.touched...) {
		if (s.objects[id]^other.objects[id])&end != 0 {
			differ[id] = true
			continue
		}
		if s.is(id, gone) || s.is(id, deleting) && s.is(id, foreignFinalizers) {
			continue // and which owners such a one has lost tells nobody anything
		}
		for e := range s.Graph.Owners(id) {
			if (s.edges[e.Index]^other.edges[e.Index])&(ownerRefRemoved|unblocked) != 0 {
				differ[id] = true
			}
		}
	}
}

// orderMatters reports whether there is anything in what the simulation has touched that makes the
// order of things matter.
func (s *simulation) orderMatters() bool {
	stays, waits := false, false // something stays, and something has waited, perhaps for that
	return slices.ContainsFunc(s.touched, func(id graph.ID) bool {
		waits = waits || s.is(id, waited)
		if !s.is(id, gone|deleting) || !s.Graph.Observed(id) {
			return false
		}
		if _, in := s.Graph.Cycle(id); in {
			return true
		}
		stays = stays || !s.is(id, gone)
		return stays && waits || slices.Contains(s.Graph.Finalizers(id), OrphanFinalizer) || s.orphaned[id] && s.shares(id)
	})
}

// shares reports whether a dependent of an object has another owner that goes.
func (s *simulation) shares(id graph.ID) bool {
	for e := range s.Graph.Dependents(id) {
		for other := range s.Graph.Owners(e.Dependent) {
			if other.Owner != id && (s.is(other.Owner, gone|deleting) || other.Problem != 0) {
				return true
			}
		}
	}
	return false
}

// task is a part of what the collector, or somebody who holds an object, does with one.
type task uint8

const (
	taskDecide  task = iota // an object as any other
	taskCarrier             // one that carries the finalizer orphan
	taskShared              // a dependent of one that carries it
	taskRelease             // an owner that orphans
	taskFinish              // an owner that waits in the foreground
	taskOthers              // finalizers of others are removed
	taskCleanUp             // what is in a CRD or namespace
	tasks       = iota
)

// taskOf says what is to be done with an object that is due.
func (s *simulation) taskOf(id graph.ID) task {
	switch {
	case s.is(id, deleting) && s.is(id, foreignFinalizers) && s.release:
		return taskOthers
	case s.is(id, deleting) && s.is(id, cleanup):
		return taskCleanUp
	case s.is(id, deleting) && s.is(id, orphan):
		return taskRelease
	case s.is(id, deleting) && s.is(id, foreground):
		return taskFinish
	case s.is(id, orphan):
		return taskCarrier
	}
	for e := range s.Owners(id) {
		if s.is(e.Owner, orphan) {
			return taskShared
		}
	}
	return taskDecide
}

// order is one in which things are taken up.
type order struct {
	// rank says what comes first, of each task; the same rank is decided by the objects.
	rank [tasks]uint8
	// backwards takes objects from the last to the first.
	backwards bool
	// seed, if not zero, takes all at random.
	seed uint64
	// between lets the collector work between the deletes of the roots.
	between bool
}

// priority is that of an object, the lowest first.
func (o order) priority(s *simulation, id graph.ID) uint64 {
	t := s.taskOf(id)
	if o.seed != 0 {
		return mix(o.seed ^ uint64(id)<<8 ^ uint64(t))
	}
	at := uint64(uint32(id))
	if o.backwards {
		at = 1<<32 - 1 - at
	}
	return uint64(o.rank[t])<<32 | at
}

// mix spreads the bits of a number (splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// What bounds the work on other orders, in objects: maxSteps of all of them, and maxRandomSteps of
// those at random.
const (
	maxSteps        = 400_000
	maxRandomSteps  = 20_000
	maxRandomOrders = 64
	minOrders       = 4
)

// orders are those that a cascade of so many objects is simulated in. The first go to the extremes
// of what the collector may be early or late with; the random ones are for what takes several of
// them together.
func orders(objects int) []order {
	var all, more []order
	for _, rank := range [][tasks]uint8{
		{}, // as they come
		{taskRelease: 1},
		{taskOthers: 1},
		{taskOthers: 1, taskRelease: 2},
		{taskFinish: 1},
		{taskShared: 1, taskDecide: 1, taskCarrier: 1},
		{taskShared: 2, taskDecide: 1},
		{taskShared: 2, taskDecide: 1, taskOthers: 1, taskFinish: 1},
		{taskCarrier: 2, taskRelease: 2, taskOthers: 1},
	} {
		all = append(all, order{rank: rank})
		more = append(more, order{rank: rank, backwards: true}, order{rank: rank, between: true})
	}
	all = append(all, more...)
	all = all[:min(len(all), max(minOrders, maxSteps/(objects+1)))]
	for seed := range uint64(min(maxRandomOrders, maxRandomSteps/(objects+1))) {
		all = append(all, order{seed: seed + 1, between: seed%2 == 0})
	}
	return all
}

// drain lets things happen one after the other, in the simulation's order, until nothing is left to
// do.
func (s *simulation) drain() {
	q := &queue{}
	for {
		for _, id := range append(s.Drain(), s.retries...) {
			heap.Push(q, queued{s.order.priority(s, id), id})
		}
		s.retries = nil
		if q.Len() == 0 {
			if s.finish() || s.breakDeadlock() || s.nextStage() {
				continue
			}
			return
		}
		next := heap.Pop(q).(queued)
		if now := s.order.priority(s, next.id); now > next.priority {
			heap.Push(q, queued{now, next.id})
			continue
		}
		s.touch(next.id)
		if f := s.attempt(next.id); f != nil {
			f()
		}
	}
}

// queued is an object that is to be looked at.
type queued struct {
	priority uint64
	id       graph.ID
}

// queue is a heap of what is due.
type queue []queued

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].priority != q[j].priority {
		return q[i].priority < q[j].priority
	}
	return q[i].id < q[j].id
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push is for package heap.
func (q *queue) Push(x any) { *q = append(*q, x.(queued)) }

// Pop is for package heap.
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

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

// LooksAt reports whether an object is looked at in the turn.
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

// Takes reports whether what was decided about an object is done in the turn.
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
// are none in this, and reports whether something is due then.
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
