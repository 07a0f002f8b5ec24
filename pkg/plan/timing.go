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

// orderMatters says whether there is anything in what the simulation has touched that makes the
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

// shares says whether a dependent of an object has another owner that goes.
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
