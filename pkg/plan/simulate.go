package plan

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// simulation is a cluster in which nothing happens but what a deletion brings about.
type simulation struct {
	*Projection
	options Options
	// release says that whoever has a finalizer on an object that is being deleted removes it.
	release bool
	// keepsTerminating says that nobody releases what was being deleted before the simulation
	// began.
	keepsTerminating bool
	retries          []graph.ID // what the wave after the next looks at again
	// turn is the loop's, putOff what it looks at in the next, and finishing what it does last.
	turn      Turn
	putOff    []graph.ID
	finishing finishing
	// containers are the objects, being deleted, that another one is waited for by: its CRD, its
	// namespace, or what a link ties it to. Few have more than one.
	containers     map[graph.ID]graph.ID
	moreContainers map[graph.ID][]graph.ID
	// over is how many cycles, from the first on, are gone.
	over int
	// contained are the first objects that these wait for in the end, once that was asked.
	contained map[graph.ID]graph.ID
	// hides says by namespace whether a gap may hide a dependent of what is in it, as far as it was
	// asked.
	hides map[string]bool
	// timing says that the end depends on how fast the collector is: an object is looked at again
	// only because the collector has been trying it in vain, which it does ever more rarely, up to
	// every 1000 seconds (GC-014); or a delete that a patch of its own has made stale is tried
	// again while the owner may or may not be gone (GC-054).
	timing  bool
	wave    int
	actions []Action
	touched []graph.ID
	// followed is how far the programs have come with the links of an object, once they have sent
	// deletes.
	followed map[graph.ID]followed
	// unreached are the objects that the controller of namespaces does not come to, with the one at
	// which it stops.
	unreached map[graph.ID]graph.ID
	// guarded are the objects whose deletion is sent while a guard of theirs is there.
	guarded []Guarded
	// orphaned are the objects that have orphaned their dependents.
	orphaned map[graph.ID]bool
	// order is that in which things are taken up one by one, instead of in waves; silent keeps no
	// actions.
	order  order
	silent bool
	// staged is how far an ordered deletion has come; nil of any other.
	staged *staging
}

func newSimulation(g *graph.Graph, opts Options, release bool) *simulation {
	return &simulation{Projection: NewProjection(g, opts), options: opts, release: release,
		containers: map[graph.ID]graph.ID{}, orphaned: map[graph.ID]bool{}, followed: map[graph.ID]followed{},
		unreached: map[graph.ID]graph.ID{}}
}

// simulate begins, and lets the collector, and the controllers of CRDs and namespaces, react until
// nothing is left to do.
func simulate(g *graph.Graph, opts Options, release bool, begin func(*simulation)) *simulation {
	s := newSimulation(g, opts, release)
	begin(s)
	s.proceed()
	if s.staged != nil { // what is not deleted, because an earlier stage does not end, is kept
		for _, id := range slices.Concat(s.staged.later...) {
			s.touch(id)
		}
	}
	return s
}

// proceed lets everybody react until nothing is left to do.
func (s *simulation) proceed() {
	for s.hasWork() || s.finish() || s.breakDeadlock() || s.nextStage() {
		now, retries := s.Drain(), s.retries
		s.retries = nil
		for _, id := range retries {
			s.Enqueue(id)
		}
		s.wave++
		s.step(now)
	}
}

func (s *simulation) hasWork() bool { return len(s.queue)+len(s.retries) > 0 }

// breakDeadlock unblocks a reference of a cycle that waits for itself, if that is wanted.
func (s *simulation) breakDeadlock() bool {
	if !s.options.Overrides.BreakDeadlocks {
		return false
	}
	// The first ring is enough, and there can be thousands: what has come to its end is not looked
	// at again.
	cycles := s.Graph.Cycles()
	for s.over < len(cycles) && !slices.ContainsFunc(cycles[s.over], func(id graph.ID) bool { return !s.is(id, gone) }) {
		s.over++
	}
	for ring := range s.deadlocks(cycles[s.over:]) {
		e := ring[0]
		if s.options.Allow != nil && !s.options.Allow(e.Dependent) {
			continue
		}
		s.wave++
		s.act(Action{Verb: VerbUnblock, Object: e.Dependent, Edges: []int{e.Index}, By: ByCollector,
			Because: Reason{Code: Deadlock, Cause: e.Owner, HasCause: true}})
		s.Unblocked(e)
		return s.hasWork()
	}
	return false
}

// step lets the collector look at each object once. What it decides rests on the state at the
// beginning of the wave; what the loop decides, on that at the beginning of its turn.
func (s *simulation) step(now []graph.ID) {
	for _, id := range now {
		s.touch(id)
	}
	if s.options.Rules == Upstream {
		s.attemptAll(now)
		return
	}
	before := len(s.actions)
	for _, s.turn = range Turns {
		s.putOff = nil
		s.attemptAll(now)
		now = s.putOff
	}
	s.turn = anyTurn
	if s.options.Links == nil { // what programs do stands behind what has them do it
		slices.SortStableFunc(s.actions[before:], func(a, b Action) int { return cmp.Compare(a.Object, b.Object) })
	}
}

func (s *simulation) attemptAll(ids []graph.ID) {
	todo := make([]func(), 0, len(ids))
	var alone []graph.ID
	if s.options.Rules == Loop {
		alone, ids = OneByOne(s.Graph, ids)
	}
	for _, id := range ids {
		if f := s.attempt(id); f != nil {
			todo = append(todo, f)
		}
	}
	if !s.silent {
		s.actions = slices.Grow(s.actions, len(todo)) // of a large wave append would make room for twice as many
	}
	for _, f := range todo {
		f()
	}
	for _, id := range alone {
		if f := s.attempt(id); f != nil {
			f()
		}
	}
}

// attempt decides about an object and returns what to do, nil for nothing, or nothing in this turn.
func (s *simulation) attempt(id graph.ID) func() {
	if s.is(id, gone) || s.options.Allow != nil && !s.options.Allow(id) {
		return nil
	}
	if !s.turn.LooksAt(s.Projection, id) {
		s.putOff = append(s.putOff, id)
		return nil
	}
	if s.is(id, deleting) {
		s.begin(id)
		if f := s.followLinks(id); f != nil {
			return f
		}
	}
	switch {
	case s.is(id, deleting) && s.is(id, foreignFinalizers) && (!s.is(id, linked) || s.afterwards(id)) && s.lets(id):
		return func() { s.clear(id, foreignFinalizers) }
	case s.is(id, deleting) && s.is(id, cleanup):
		return s.cleanUp(id)
	case s.is(id, deleting) && s.is(id, orphan):
		return func() { s.orphanDependents(id) }
	case s.is(id, deleting) && s.is(id, foreground):
		if s.Blocked(id) || s.mayHide(id) {
			return nil
		}
		if s.options.Rules == Loop {
			s.finishLater(id, false)
			return nil
		}
		return func() { s.removeFinalizer(id, foreground, NoBlockers) }
	}
	item, refs, cause := s.item(id)
	v := Decide(item, s.options.Rules)
	if !s.turn.Takes(item, v) {
		s.putOff = append(s.putOff, id)
		return nil
	}
	switch v.Do {
	case Delete:
		if !v.Unblock {
			policy := v.Policy
			return func() { // holds no references: a wave may have half a million of these
				if !s.is(id, deleting|gone) {
					s.delete(id, policy, ByCollector, cause)
				}
			}
		}
		return func() {
			if s.is(id, deleting|gone) {
				return // a controller was faster
			}
			if s.unblock(id, refs) {
				s.timing = true // the dependent that waits may be gone sooner
				if s.options.Rules == Upstream {
					// The patch makes the delete's resourceVersion stale, so it is tried again,
					// after what the patch set off (GC-054).
					s.retries = append(s.retries, id)
					return
				}
			}
			s.delete(id, v.Policy, ByCollector, cause)
		}
	case RemoveOwnerRefs:
		return func() {
			indices := make([]int, len(v.RemoveOwnerRefs))
			for i, at := range v.RemoveOwnerRefs {
				indices[i] = refs[at].Index
			}
			s.act(Action{Verb: VerbOrphan, Object: id, Edges: indices, By: ByCollector, Because: s.solidOwner(item, refs)})
			for _, at := range v.RemoveOwnerRefs {
				s.OwnerRefRemoved(refs[at])
			}
		}
	}
	return nil
}

// removeFinalizer takes one of the collector's finalizers off an object.
func (s *simulation) removeFinalizer(id graph.ID, finalizer objectState, because ReasonCode) {
	s.act(Action{Verb: VerbRemoveFinalizer, Object: id, By: ByCollector, Because: Reason{Code: because}})
	s.clear(id, finalizer)
}

// frees reports whether others remove their finalizers from an object that is being deleted.
func (s *simulation) frees(id graph.ID) bool {
	if !s.release || s.keepsTerminating && s.Graph.State(id) == graph.Deleting {
		return false
	}
	_, held := s.options.held[id]
	return !held
}

// item is the object as the decision sees it, with its references and the owner that made it due.
func (s *simulation) item(id graph.ID) (Item, []graph.Edge, Reason) {
	item, refs := s.Item(id)
	cause := Reason{Code: OwnersGone}
	item.Owners = make([]OwnerState, 0, len(refs))
	for _, e := range refs {
		state := s.OwnerState(e)
		item.Owners = append(item.Owners, state)
		switch {
		case state == Waiting:
			cause = Reason{Code: OwnerWaiting, Cause: e.Owner, HasCause: true}
		case state.dangling() && cause.Code == OwnersGone && !(s.Graph.Observed(cause.Cause) && cause.HasCause &&
			!s.Graph.Observed(e.Owner)): // rather the one that went than one that was absent before
			cause = Reason{Code: OwnersGone, Cause: e.Owner, HasCause: true}
		}
	}
	return item, refs, cause
}

// solidOwner is an owner because of which an object is kept, rather one that is not being deleted.
func (s *simulation) solidOwner(item Item, refs []graph.Edge) Reason {
	r := Reason{Code: OwnedByAnother}
	for i, state := range item.Owners {
		if state == Solid && (!r.HasCause || s.is(r.Cause, deleting) && !s.is(refs[i].Owner, deleting)) {
			r.Cause, r.HasCause = refs[i].Owner, true
		}
	}
	return r
}

func (s *simulation) touch(id graph.ID) {
	if !s.is(id, touched) {
		s.objects[id] |= touched
		s.touched = append(s.touched, id)
	}
}

func (s *simulation) act(a Action) {
	s.touch(a.Object)
	if s.silent {
		return
	}
	a.Wave = s.wave
	if s.staged != nil {
		a.Stage = s.staged.stage
	}
	if len(s.actions) == cap(s.actions) { // append would copy them more often
		s.actions = slices.Grow(s.actions, max(64, len(s.actions)/2))
	}
	s.actions = append(s.actions, a)
}

// mayHide reports whether a gap forbids the loop to let an owner go: a dependent may be in it
// (X-05, RO-012). That depends on the owner's namespace alone.
func (s *simulation) mayHide(id graph.ID) bool {
	if s.options.Rules != Loop || len(s.options.Gaps) == 0 {
		return false
	}
	ref := s.Graph.Ref(id)
	hides, known := s.hides[ref.Namespace]
	if !known {
		if s.hides == nil {
			s.hides = map[string]bool{}
		}
		hides = len(s.Graph.Hiding(s.options.Gaps, ref)) > 0
		s.hides[ref.Namespace] = hides
	}
	return hides
}

// Relevant returns the gaps in which a dependent of what is deleted can be hidden.
func (p *Plan) Relevant(gaps []v1alpha1.Gap) []v1alpha1.Gap {
	if len(gaps) == 0 {
		return nil
	}
	namespaces := map[string]bool{}
	for _, ids := range [][]graph.ID{p.Deleted, p.Roots} {
		for _, id := range ids {
			namespaces[p.Graph.Ref(id).Namespace] = true
		}
	}
	return p.Graph.HidingIn(gaps, namespaces)
}

// cycles returns the deadlocks in which what is stuck ends, as rings of objects each of which waits
// for the next and the last for the first (GC-064). Each begins with its first member in the order
// of the graph.
func (p *Plan) cycles() [][]graph.ID {
	if len(p.Deadlocked) == 0 {
		return nil
	}
	stuck := newSet(p.Graph, Objects(p.Deadlocked))
	var cycles [][]graph.ID
	for _, ring := range p.end.Deadlocks() {
		first := ring[0].Dependent
		if !stuck[first] {
			continue // it has nothing to do with this deletion
		}
		cycle := []graph.ID{first}
		for i := len(ring) - 1; i > 0; i-- { // the references of a ring stand from its end to its beginning
			cycle = append(cycle, ring[i].Dependent)
		}
		cycles = append(cycles, cycle)
	}
	return cycles
}
