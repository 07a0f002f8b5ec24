package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

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

// releases says whether the object with an owner's uid is going to take the reference off (GC-067):
// it waits to orphan its dependents; or it will, since it carries the finalizer and has lost its
// own owners, and the reference names something else, so that its dependent seems to have lost it
// already.
func (o *Projection) releases(e graph.Edge) bool {
	return o.Orphans(e.Owner) || e.Problem&mismatch != 0 && o.is(e.Owner, orphan) && o.goes(e.Owner)
}

// goes says whether an object is going to be deleted for lack of owners.
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

// Candidate says whether the collector's loop has to look at an object: it waits for its
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
