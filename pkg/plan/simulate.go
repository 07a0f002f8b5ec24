package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// simulation is a cluster of which only the part that a deletion can change is kept: a flag for each object and one for
// each reference.
type simulation struct {
	g     *graph.Graph
	links Linker
	// release says that whoever has a finalizer on an object that is being deleted takes it off.
	release bool
	objects []objectState
	edges   []edgeState
	due     []graph.ID // what the next wave looks at, each once
	retries []graph.ID // what the wave after that looks at again
	// containers are the definition or namespace, being deleted, that an object is waited for by.
	containers map[graph.ID]graph.ID
	// timing says that the end depends on how fast the collector is: an object is looked at again only because the collector has been trying
	// it in vain, which it does ever more rarely, up to every 1000 seconds (GC-014); or a delete that a patch of its own has made stale
	// is tried again while the owner may or may not be gone (GC-054).
	timing  bool
	wave    int
	actions []Action
	touched []graph.ID
}

type objectState uint16

const (
	gone objectState = 1 << iota
	deleting
	orphan     // carries the finalizer
	foreground // carries the finalizer
	held       // carries finalizers of others
	touched    // was acted on, or looked at because of what was
	cleanup    // a definition whose instances go first, or a namespace whose content does
	queued     // is due
)

type edgeState uint8

const (
	stripped edgeState = 1 << iota
	unblocked
)

func newSimulation(g *graph.Graph, links Linker, release bool) *simulation {
	s := &simulation{
		g: g, links: links, release: release,
		objects: make([]objectState, g.Len()), edges: make([]edgeState, g.Edges()),
		containers: map[graph.ID]graph.ID{},
	}
	for i := range s.objects {
		id := graph.ID(i)
		if !g.Seen(id) {
			s.objects[i] = gone
			continue
		}
		if g.State(id) == graph.Deleting {
			s.objects[i] |= deleting
		}
		for _, f := range g.Finalizers(id) {
			switch f {
			case OrphanFinalizer:
				s.objects[i] |= orphan
			case ForegroundFinalizer:
				s.objects[i] |= foreground
			default:
				s.objects[i] |= held
			}
		}
		if s.objects[i] == deleting {
			s.objects[i] |= held // a grace period runs
		}
	}
	return s
}

// simulate deletes the roots and lets the collector, and the controllers of definitions and namespaces, react until nothing is left to do.
func simulate(g *graph.Graph, roots []graph.ID, policy Policy, links Linker, release bool) *simulation {
	s := newSimulation(g, links, release)
	s.wave = 1
	for _, root := range dependentsFirst(g, roots) {
		if s.is(root, gone) {
			continue
		}
		s.delete(root, policy, ByClient, Reason{Code: Requested})
	}
	for len(s.due)+len(s.retries) > 0 {
		now, retries := s.due, s.retries
		slices.Sort(now)
		s.due, s.retries = nil, nil
		for _, id := range now {
			s.objects[id] &^= queued
		}
		for _, id := range retries {
			s.look(id)
		}
		s.wave++
		s.step(now)
	}
	return s
}

// step lets the collector look at each object once. What it decides rests on the state at the beginning of the wave.
func (s *simulation) step(now []graph.ID) {
	var todo []func()
	for _, id := range now {
		s.touch(id)
		if f := s.attempt(id); f != nil {
			todo = append(todo, f)
		}
	}
	for _, f := range todo {
		f()
	}
}

// attempt decides about an object and returns what to do, nil for nothing.
func (s *simulation) attempt(id graph.ID) func() {
	switch {
	case s.is(id, gone):
		return nil
	case s.is(id, deleting) && s.is(id, held) && s.release:
		return func() { s.clear(id, held) }
	case s.is(id, deleting) && s.is(id, cleanup):
		return s.cleanUp(id)
	case s.is(id, deleting) && s.is(id, orphan):
		return func() { s.orphanDependents(id) }
	case s.is(id, deleting) && s.is(id, foreground):
		if s.blocked(id) {
			return nil
		}
		return func() {
			s.act(Action{Verb: VerbRemoveFinalizer, Object: id, By: ByCollector, Because: Reason{Code: NoBlockers}})
			s.clear(id, foreground)
		}
	}
	item, refs, cause := s.item(id)
	v := Decide(item, Upstream)
	switch v.Do {
	case Delete:
		return func() {
			if s.is(id, deleting|gone) {
				return // a controller was faster
			}
			if v.Unblock && s.unblock(id, refs) {
				// The patch makes the delete's resourceVersion stale, so it is tried again, after what the patch set off (GC-054).
				s.retries = append(s.retries, id)
				s.timing = true
				return
			}
			s.delete(id, v.Policy, ByCollector, cause)
		}
	case Strip:
		return func() {
			indices := make([]int, len(v.Strip))
			for i, at := range v.Strip {
				indices[i] = refs[at].Index
			}
			s.act(Action{Verb: VerbOrphan, Object: id, Edges: indices, By: ByCollector, Because: s.solidOwner(item, refs)})
			for _, at := range v.Strip {
				s.strip(refs[at])
			}
		}
	}
	return nil
}

// item is the object as the decision sees it, with its references and the owner that made it due.
func (s *simulation) item(id graph.ID) (Item, []graph.Edge, Reason) {
	item := Item{Deleting: s.is(id, deleting), Orphan: s.is(id, orphan), Foreground: s.is(id, foreground)}
	cause := Reason{Code: OwnersGone}
	var refs []graph.Edge
	for e := range s.g.Owners(id) {
		if s.edges[e.Index]&stripped != 0 {
			continue
		}
		state := s.ownerState(e)
		refs = append(refs, e)
		item.Owners = append(item.Owners, state)
		switch {
		case state == Waiting:
			cause = Reason{Code: OwnerWaiting, Cause: e.Owner, HasCause: true}
		case state.dangling() && cause.Code == OwnersGone:
			cause = Reason{Code: OwnersGone, Cause: e.Owner, HasCause: true}
		}
	}
	for e := range s.dependents(id) {
		item.HasDependents = true
		if s.is(e.Dependent, deleting) && s.is(e.Dependent, foreground) {
			item.DependentForeground = true
		}
	}
	return item, refs, cause
}

// ownerState judges a reference as the collector would by a GET of what it names (GC-046 to GC-050).
func (s *simulation) ownerState(e graph.Edge) OwnerState {
	switch {
	case e.Problem&graph.Unresolvable != 0:
		return Unknown
	case e.Problem&graph.WrongScope != 0:
		return BadScope
	case e.Problem&(graph.WrongNamespace|graph.WrongName|graph.WrongKind) != 0:
		return Mismatch
	case !s.g.Seen(e.Owner):
		if s.g.State(e.Owner) == graph.Absent {
			return Absent
		}
		return Unknown
	case s.is(e.Owner, gone):
		return Absent
	case s.is(e.Owner, deleting) && s.is(e.Owner, foreground):
		return Waiting
	}
	return Solid
}

func (s *simulation) solidOwner(item Item, refs []graph.Edge) Reason {
	for i, state := range item.Owners {
		if state == Solid {
			return Reason{Code: OwnedByAnother, Cause: refs[i].Owner, HasCause: true}
		}
	}
	return Reason{Code: OwnedByAnother}
}

// blocked says whether a blocking dependent is left. Blocking is by uid, whatever else the reference says (GC-060, GC-066).
func (s *simulation) blocked(id graph.ID) bool {
	for e := range s.dependents(id) {
		if s.blocks(e) {
			return true
		}
	}
	return false
}

func (s *simulation) blocks(e graph.Edge) bool {
	return e.Block && s.edges[e.Index]&unblocked == 0
}

// dependents iterates over the references to an object that are still there.
func (s *simulation) dependents(id graph.ID) func(func(graph.Edge) bool) {
	return func(yield func(graph.Edge) bool) {
		for e := range s.g.Dependents(id) {
			if s.edges[e.Index]&stripped == 0 && !s.is(e.Dependent, gone) && !yield(e) {
				return
			}
		}
	}
}

func (s *simulation) is(id graph.ID, state objectState) bool { return s.objects[id]&state != 0 }

func (s *simulation) touch(id graph.ID) {
	if !s.is(id, touched) {
		s.objects[id] |= touched
		s.touched = append(s.touched, id)
	}
}

func (s *simulation) act(a Action) {
	a.Wave = s.wave
	s.actions = append(s.actions, a)
	s.touch(a.Object)
}

func (s *simulation) look(id graph.ID) {
	if !s.is(id, queued) {
		s.objects[id] |= queued
		s.due = append(s.due, id)
	}
}
