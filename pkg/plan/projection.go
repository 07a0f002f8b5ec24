package plan

import (
	"iter"
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Projection is a graph and what has happened to its objects since it was listed: a flag for each
// object and one for each reference. It also knows which objects the collector has to look at
// because of what has happened, which is what the collector's graph builder does with events
// (GC-024 to GC-027). A plan feeds it with what the server would do, the loop of package collect
// with what the server has done. It is not safe for concurrent use.
type Projection struct {
	Graph   *graph.Graph
	objects []objectState
	edges   []edgeState
	queue   []graph.ID // each once
	// blockers count the blocking references that are left to an object, from when that was asked
	// first.
	blockers  map[graph.ID]int
	proven    map[int]OwnerState
	overrides Overrides
	rules     Rules
	early     func(uid string) bool
}

type objectState uint16

const (
	gone objectState = 1 << iota
	deleting
	orphan            // carries the finalizer
	foreground        // carries the finalizer
	foreignFinalizers // carries finalizers of others, or a grace period runs
	touched           // was acted on, or looked at because of what was
	cleanup           // a CRD whose instances go first, or a namespace whose content does
	inQueue           // is due
	begun             // is being deleted, and what its links say of that was looked at
	waited            // has waited for its dependents in the foreground
	linked            // programs have yet to delete what a link ties to it, or wait until that is gone
	asked             // a DELETE was sent since it was listed
)

type edgeState uint8

const (
	ownerRefRemoved edgeState = 1 << iota
	unblocked
	blocking // although the listing says that it does not
	released // by the owner, which orphans
)

// NewProjection returns a Projection to which nothing has happened yet. Of the options it takes
// what owners are judged by.
func NewProjection(g *graph.Graph, opts Options) *Projection {
	o := &Projection{
		Graph: g, objects: make([]objectState, g.Len()), edges: make([]edgeState, g.Edges()), blockers: map[graph.ID]int{},
		proven: opts.Proven, overrides: opts.Overrides, rules: opts.Rules, early: opts.Early,
	}
	for i := range o.objects {
		id := graph.ID(i)
		if !g.Observed(id) {
			o.objects[i] = gone
			continue
		}
		if g.State(id) == graph.Deleting {
			o.objects[i] |= deleting
		}
		for _, f := range g.Finalizers(id) {
			switch f {
			case OrphanFinalizer:
				o.objects[i] |= orphan
			case ForegroundFinalizer:
				o.objects[i] |= foreground
			default:
				o.objects[i] |= foreignFinalizers
			}
		}
		if len(opts.specFinalizers[id]) > 0 {
			o.objects[i] |= foreignFinalizers
		}
		if o.objects[i] == deleting {
			o.objects[i] |= foreignFinalizers // a grace period runs
		}
		if o.Waits(id) {
			o.objects[i] |= waited
		}
	}
	return o
}

// clone returns another Projection to which as little has happened; it shares what was proven.
func (o *Projection) clone() *Projection {
	c := *o
	c.objects, c.edges, c.blockers = slices.Clone(o.objects), slices.Clone(o.edges), maps.Clone(o.blockers)
	return &c
}

func (o *Projection) is(id graph.ID, state objectState) bool { return o.objects[id]&state != 0 }

// Gone says that the object is no more, or was never there.
func (o *Projection) Gone(id graph.ID) bool { return o.is(id, gone) }

// Deleting says that the object has a deletionTimestamp.
func (o *Projection) Deleting(id graph.ID) bool { return o.is(id, deleting) }

// Orphans says that the object is being deleted and waits for its dependents to be orphaned
// (GC-067).
func (o *Projection) Orphans(id graph.ID) bool { return o.is(id, deleting) && o.is(id, orphan) }

// Waits says that the object is being deleted in the foreground and waits for its dependents
// (GC-060).
func (o *Projection) Waits(id graph.ID) bool { return o.is(id, deleting) && o.is(id, foreground) }

// HasForeignFinalizers says that the object has finalizers that are not the collector's, or that
// its grace period runs.
func (o *Projection) HasForeignFinalizers(id graph.ID) bool { return o.is(id, foreignFinalizers) }

// Drain returns the objects that the collector has to look at, sorted, and empties the queue.
func (o *Projection) Drain() []graph.ID {
	due := o.queue
	slices.Sort(due)
	o.queue = nil
	for _, id := range due {
		o.objects[id] &^= inQueue
	}
	return due
}

// Enqueue adds an object to those that the collector looks at (upstream: the queue
// attemptToDelete).
func (o *Projection) Enqueue(id graph.ID) {
	if !o.is(id, inQueue) {
		o.objects[id] |= inQueue
		o.queue = append(o.queue, id)
	}
}

// Delete records that the server has taken a DELETE with a policy: the finalizer that the policy
// asks for is in the place of the collector's finalizers (API-003).
func (o *Projection) Delete(id graph.ID, policy Policy) {
	o.objects[id] = o.objects[id]&^(orphan|foreground) | deleting | asked
	switch policy {
	case Orphan:
		o.objects[id] |= orphan
		o.Enqueue(id)
	case Foreground:
		o.objects[id] |= foreground | waited
		o.wait(id)
	}
}

// wait makes the collector look at an object that waits for its dependents, and at all of them
// (GC-025).
func (o *Projection) wait(id graph.ID) {
	o.Enqueue(id)
	for e := range o.Dependents(id) {
		o.Enqueue(e.Dependent)
	}
}

// Released records that one of the collector's finalizers was removed.
func (o *Projection) Released(id graph.ID, finalizer string) {
	switch finalizer {
	case OrphanFinalizer:
		o.objects[id] &^= orphan
	case ForegroundFinalizer:
		o.objects[id] &^= foreground
	}
}

// Removed records that an object is no more: its dependents have lost an owner, and whoever waits
// for it is looked at (GC-027).
func (o *Projection) Removed(id graph.ID) {
	if o.is(id, gone) {
		return
	}
	o.objects[id] = o.objects[id]&(inQueue|touched|begun|waited) | gone
	for e := range o.Dependents(id) {
		o.Enqueue(e.Dependent)
	}
	for e := range o.Owners(id) {
		o.unblocks(e)
		o.enqueueIfWaiting(e)
	}
}

// OwnerRefRemoved records that a reference was removed (GC-024).
func (o *Projection) OwnerRefRemoved(e graph.Edge) {
	if o.edges[e.Index]&ownerRefRemoved == 0 {
		o.unblocks(e)
		o.enqueueIfWaiting(e)
		o.edges[e.Index] |= ownerRefRemoved
		o.enqueueMisnamed(e.Dependent)
	}
}

// enqueueMisnamed looks at the dependents that were not judged as long as an owner of theirs seemed
// to go and to release them.
func (o *Projection) enqueueMisnamed(owner graph.ID) {
	if o.rules != Loop || !o.is(owner, orphan) || o.is(owner, gone|deleting) || o.goes(owner) {
		return
	}
	for e := range o.Dependents(owner) {
		if e.Problem&mismatch != 0 {
			o.Enqueue(e.Dependent)
		}
	}
}

// Unblocked records that a reference does not block any more (GC-024).
func (o *Projection) Unblocked(e graph.Edge) {
	o.unblocks(e)
	o.edges[e.Index] |= unblocked
	o.enqueueIfWaiting(e)
}

func (o *Projection) enqueueIfWaiting(e graph.Edge) {
	if o.Waits(e.Owner) {
		o.Enqueue(e.Owner)
	}
}

// unblocks counts a reference out that is about to be gone or not to block any more.
func (o *Projection) unblocks(e graph.Edge) {
	if n, counted := o.blockers[e.Owner]; counted && o.Blocks(e) {
		o.blockers[e.Owner] = n - 1
	}
}

// Owners iterates over the references of an object that are still there.
func (o *Projection) Owners(id graph.ID) iter.Seq[graph.Edge] {
	return func(yield func(graph.Edge) bool) {
		for e := range o.Graph.Owners(id) {
			if o.edges[e.Index]&ownerRefRemoved == 0 && !yield(e) {
				return
			}
		}
	}
}

// Dependents iterates over the references to an object that are still there.
func (o *Projection) Dependents(id graph.ID) iter.Seq[graph.Edge] {
	return func(yield func(graph.Edge) bool) {
		for e := range o.Graph.Dependents(id) {
			if o.edges[e.Index]&ownerRefRemoved == 0 && !o.is(e.Dependent, gone) && !yield(e) {
				return
			}
		}
	}
}

// Blocks reports whether a reference makes a waiting owner wait.
func (o *Projection) Blocks(e graph.Edge) bool {
	return o.Blocking(e) && o.edges[e.Index]&unblocked == 0
}

// Blocking reports whether a reference has blocked, by itself or because it was made to, whatever
// has happened to it since.
func (o *Projection) Blocking(e graph.Edge) bool { return e.Block || o.edges[e.Index]&blocking != 0 }

// Blocked reports whether a blocking dependent is left. Blocking is by uid, whatever else the
// reference says (GC-060, GC-066).
func (o *Projection) Blocked(id graph.ID) bool { return o.Blockers(id) > 0 }

// Blockers returns how many blocking references are left. They are counted once: an owner of
// thousands is asked after each of them.
func (o *Projection) Blockers(id graph.ID) int {
	n, counted := o.blockers[id]
	if !counted {
		for e := range o.Dependents(id) {
			if o.Blocks(e) {
				n++
			}
		}
		o.blockers[id] = n
	}
	return n
}

// Deadlocks returns the rings of objects each of which waits, in the foreground, for a dependent
// that waits for the next, so that none can ever finish: all members of a cycle were deleted in the
// foreground, or an object blocks itself (GC-064, RO-023). A ring is its blocking references; its
// first is that of its first member in the order of the graph. An object is in one ring at most.
func (o *Projection) Deadlocks() [][]graph.Edge { return slices.Collect(o.deadlocks(o.Graph.Cycles())) }

// deadlocks iterates over those in some of the cycles of the graph.
func (o *Projection) deadlocks(cycles [][]graph.ID) iter.Seq[[]graph.Edge] {
	return func(yield func([]graph.Edge) bool) {
		found := map[graph.ID]bool{}
		for _, members := range cycles {
			for _, id := range members {
				if found[id] || !o.Waits(id) || o.Gone(id) {
					continue
				}
				ring := o.ring(id)
				for _, e := range ring {
					found[e.Dependent] = true
				}
				if len(ring) > 0 && !yield(ring) {
					return
				}
			}
		}
	}
}

// ring returns the shortest way from an object along the dependents that it waits for back to
// itself, nil if there is none.
func (o *Projection) ring(start graph.ID) []graph.Edge {
	via := map[graph.ID]graph.Edge{}
	for queue := []graph.ID{start}; len(queue) > 0; queue = queue[1:] {
		for e := range o.Dependents(queue[0]) {
			if !o.Blocks(e) || !o.Waits(e.Dependent) {
				continue
			}
			if e.Dependent == start {
				ring := []graph.Edge{e}
				for id := e.Owner; id != start; id = via[id].Owner {
					ring = append(ring, via[id])
				}
				return ring
			}
			if _, seen := via[e.Dependent]; !seen {
				via[e.Dependent] = e
				queue = append(queue, e.Dependent)
			}
		}
	}
	return nil
}
