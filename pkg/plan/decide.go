package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// OwnerState is what is known of the owner that one reference names (RO-004).
type OwnerState uint8

const (
	// Solid means alive; or being deleted, but for anything else than its dependents (GC-046).
	Solid OwnerState = iota
	// Waiting means being deleted in the foreground, so it waits for its dependents.
	Waiting
	// Absent means proven not to exist.
	Absent
	// Replaced means that another object has the name.
	Replaced
	// Mismatch means that nothing is at the coordinates of the reference, though its uid is alive
	// under others. The collector takes the owner for absent.
	Mismatch
	// BadScope means that a cluster-scoped object names a namespaced owner; the collector gives up
	// on it (GC-048).
	BadScope
	// Orphaning means being deleted with the finalizer orphan, so it is going to release its
	// dependents. It is told under the rules of the Loop only; for Upstream it is what a GET shows.
	Orphaning
	// Passing means that the owner waits since before the loop began, and not for this dependent. A
	// collector that was not there then may not come to the dependent for the sake of that owner
	// before it is gone (GC-025, GC-061). It is told under the rules of the Loop only.
	Passing
	// Unknown means that it could not be found out; the collector tries again for ever (GC-049,
	// GC-050).
	Unknown
)

// dangling reports whether the collector takes the owner for absent.
func (s OwnerState) dangling() bool { return s == Absent || s == Replaced || s == Mismatch }

// unresolved reports whether the collector cannot judge the reference.
func (s OwnerState) unresolved() bool { return s == BadScope || s == Unknown }

// Item is what the decision about an object rests on.
type Item struct {
	// Deleting says that the object has a deletionTimestamp.
	Deleting bool
	// Orphan and Foreground say which of the collector's finalizers it carries.
	Orphan, Foreground bool
	// Owners are the states of its references, in their order.
	Owners []OwnerState
	// HasDependents says that some object has a reference with its uid.
	HasDependents bool
	// DependentForeground says that one of those is itself being deleted in the foreground, which
	// may be a cycle (GC-054).
	DependentForeground bool
}

// Rules are those of whoever does the collector's part.
type Rules uint8

const (
	// Upstream is the cluster's collector: it gives up on an object as soon as one reference cannot
	// be judged (GC-051).
	Upstream Rules = iota
	// Loop is that of package collect. It judges no object before the owners that wait to orphan it
	// have released it, by whatever name it refers to them: the collector takes those references
	// off by the uid alone (GC-067), and which of both it does first is chance. It looks at all
	// references before it gives up, so that one solid owner is enough to keep an object and to
	// remove what is proven gone (RO-006, X-04); it looks again at what upstream forgets (RO-001);
	// and it goes on with the version that its own patch has made (T-29).
	Loop
)

// Decision is what to do with an object.
type Decision struct {
	Do Do
	// Policy is that of the delete.
	Policy Policy
	// RemoveOwnerRefs are the indices of the references to remove.
	RemoveOwnerRefs []int
	// Unblock says that the blocking references have to be unblocked before the delete, for a cycle
	// to come to an end.
	Unblock bool
}

// Do is the kind of a Decision.
type Do uint8

const (
	// Nothing means that no reference asks for anything.
	Nothing Do = iota
	// Delete the object.
	Delete
	// RemoveOwnerRefs removes the references to owners that are gone or wait, because another owner
	// is solid (GC-053).
	RemoveOwnerRefs
	// Unresolvable means that a reference cannot be resolved, so nothing is done (GC-051).
	Unresolvable
	// Later means that an owner is going to release the object, which is judged afterwards.
	Later
)

// Decide is the collector's decision about one object that is not itself waiting for its dependents
// (attemptToDeleteItem, GC-042 to GC-055).
func Decide(item Item, rules Rules) Decision {
	if item.Deleting || len(item.Owners) == 0 {
		return Decision{}
	}
	if slices.Contains(item.Owners, Orphaning) {
		return Decision{Do: Later}
	}
	var solid, waiting, unresolved bool
	var remove []int
	passing := 0
	for i, s := range item.Owners {
		switch {
		case s.unresolved():
			unresolved = true
		case s == Solid:
			solid = true
		case s == Passing:
			passing++
			fallthrough
		default:
			waiting = waiting || s == Waiting || s == Passing
			remove = append(remove, i)
		}
	}
	switch {
	case unresolved && (rules == Upstream || !solid):
		return Decision{Do: Unresolvable}
	case !solid && passing > 0 && passing == len(remove):
		return Decision{}
	case solid && len(remove) == 0:
		return Decision{}
	case solid:
		return Decision{Do: RemoveOwnerRefs, RemoveOwnerRefs: remove}
	case waiting && item.HasDependents:
		return Decision{Do: Delete, Policy: Foreground, Unblock: item.DependentForeground}
	}
	return Decision{Do: Delete, Policy: item.ownPolicy()}
}

// ownPolicy is the policy by the object's own finalizers (GC-055).
func (i Item) ownPolicy() Policy {
	switch {
	case i.Orphan:
		return Orphan
	case i.Foreground:
		return Foreground
	}
	return Background
}

// LiveOwner is the state of the owner with a uid, by what a live read has shown where the reference
// says (GC-046).
func LiveOwner(now *graph.Object, uid string) OwnerState {
	switch {
	case now.UID != uid:
		return Replaced
	case now.DeletionTimestamp != 0 && slices.Contains(now.Finalizers, OrphanFinalizer):
		return Orphaning
	case now.DeletionTimestamp != 0 && slices.Contains(now.Finalizers, ForegroundFinalizer):
		return Waiting
	}
	return Solid
}

// Item is an object as the decision about it sees it, without the states of its owners, and the
// references that it still has.
func (o *Projection) Item(id graph.ID) (Item, []graph.Edge) {
	item := Item{Deleting: o.is(id, deleting), Orphan: o.is(id, orphan), Foreground: o.is(id, foreground)}
	refs := make([]graph.Edge, 0, o.Graph.OwnerCount(id))
	for e := range o.Owners(id) {
		refs = append(refs, e)
	}
	for e := range o.Dependents(id) {
		item.HasDependents = true
		if o.Waits(e.Dependent) {
			item.DependentForeground = true
			break
		}
	}
	return item, refs
}

// OwnerState judges a reference by the listing and what has happened since. It is what a GET of
// what the reference names would show the collector if nobody else acts (GC-046 to GC-050); an
// absence that is acted on has to be proven by one.
func (o *Projection) OwnerState(e graph.Edge) OwnerState {
	if o.rules == Loop && o.releases(e) {
		return Orphaning
	}
	return o.named(e)
}

// named judges a reference by what it names alone.
func (o *Projection) named(e graph.Edge) OwnerState {
	if state, ok := o.proven[e.Index]; ok &&
		!((state == Waiting || state == Solid || state == Orphaning) && o.is(e.Owner, gone) && o.Graph.Observed(e.Owner)) {
		if state == Waiting {
			return o.waiting(e)
		}
		return o.overrides.Apply(e, state)
	}
	state := o.listedState(e)
	if o.rules == Loop && e.Problem&graph.InexactKind != 0 && state != Solid {
		state = Unknown // the loop does not guess
	}
	return o.overrides.Apply(e, state)
}

// releases reports whether the object with an owner's uid is going to take the reference off
// (GC-067): it waits to orphan its dependents; or it will, since it carries the finalizer and has
// lost its own owners, and the reference names something else, so that its dependent seems to have
// lost it already.
func (o *Projection) releases(e graph.Edge) bool {
	return o.Orphans(e.Owner) || e.Problem&mismatch != 0 && o.is(e.Owner, orphan) && o.goes(e.Owner)
}

// goes reports whether an object is going to be deleted for lack of owners.
func (o *Projection) goes(id graph.ID) bool {
	owned := false
	for e := range o.Owners(id) {
		if s := o.named(e); !s.dangling() && s != Waiting && s != Passing {
			return false
		}
		owned = true
	}
	return owned && !o.is(id, gone|deleting)
}

// Lost returns the references of an object that the loop removes together with that to an owner
// which orphans it: a collector that takes up the dependent first takes that owner for alive, and
// removes what is gone or waits for the sake of it (GC-053). Those to owners that orphan it are not
// among them.
func (o *Projection) Lost(id graph.ID) []graph.Edge {
	item, refs := o.Item(id)
	for _, e := range refs {
		state := o.OwnerState(e)
		if state == Orphaning && e.Problem&mismatch == 0 {
			state = Solid
		}
		item.Owners = append(item.Owners, state)
	}
	if !slices.Contains(item.Owners, Solid) || item.Deleting {
		return nil
	}
	var lost []graph.Edge
	for i, state := range item.Owners {
		if state == Waiting || state == Passing || state.dangling() {
			lost = append(lost, refs[i])
		}
	}
	return lost
}

// Prove records what a live read has shown of the owner that a reference names, before the terms
// are applied; it counts more than the listing.
func (o *Projection) Prove(e graph.Edge, state OwnerState) {
	if o.proven == nil {
		o.proven = map[int]OwnerState{}
	}
	o.proven[e.Index] = state
	o.enqueueMisnamed(e.Dependent)
}

// Proven returns what was recorded, by the Index of the reference.
func (o *Projection) Proven() map[int]OwnerState { return o.proven }

func (o *Projection) listedState(e graph.Edge) OwnerState {
	switch {
	case e.Problem&graph.Unresolvable != 0:
		return Unknown
	case e.Problem&graph.WrongScope != 0:
		return BadScope
	case e.Problem&(graph.WrongNamespace|graph.WrongName|graph.WrongKind) != 0:
		return Mismatch
	case !o.Graph.Observed(e.Owner):
		if o.Graph.State(e.Owner) == graph.Absent {
			return Absent
		}
		return Unknown
	case o.is(e.Owner, gone):
		return Absent
	case o.Waits(e.Owner):
		return o.waiting(e)
	}
	return Solid
}

// waiting is the state of an owner that waits in the foreground. If it waits since before the loop
// began, it counts for the dependents that it waits for; for others it is alive if it is about to
// stop waiting and others hold it, since a collector may come to it before it comes to them.
func (o *Projection) waiting(e graph.Edge) OwnerState {
	id := e.Owner
	early := o.rules == Loop && o.Graph.State(id) == graph.Deleting && !o.is(id, asked) &&
		(o.early == nil || o.early(o.Graph.Ref(id).UID))
	switch {
	case !early || o.Blocks(e):
		return Waiting
	case o.is(id, foreignFinalizers) && !o.Blocked(id):
		return Solid
	}
	return Passing
}

// Candidate reports whether the collector's loop has to look at an object: it waits for its
// dependents, or one of its owners is not alive by the listing. One that releases its dependents is
// still alive. A healthy object is none (RO-010).
func (o *Projection) Candidate(id graph.ID) bool {
	switch {
	case o.Gone(id):
		return false
	case o.Deleting(id):
		return o.Orphans(id) || o.Waits(id)
	}
	solid, passing := false, false
	for e := range o.Owners(id) {
		switch o.OwnerState(e) {
		case Solid:
			solid = true
		case Passing:
			passing = true
		case Orphaning:
		default:
			return true
		}
	}
	return solid && passing
}
