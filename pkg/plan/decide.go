package plan

import "slices"

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

// dangling says whether the collector takes the owner for absent.
func (s OwnerState) dangling() bool { return s == Absent || s == Replaced || s == Mismatch }

// unresolved says whether the collector cannot judge the reference.
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
