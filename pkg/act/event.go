package act

import (
	"cmp"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Event is something that happened to one object.
type Event struct {
	Type   EventType
	Object graph.Ref
	// Policy is the propagation policy of a Deleting.
	Policy string
	// Err is the reason of a Failed or Skipped.
	Err error
	// GracePeriodSeconds is the object's own, of an Ungraceful.
	GracePeriodSeconds int64
}

// EventType says what happened to the object.
type EventType uint8

const (
	// Deleting says that the delete is about to be sent.
	Deleting EventType = iota
	// Gone says that the object no longer exists.
	Gone
	// Failed says that the server has refused.
	Failed
	// Skipped says that the object was gone already, or that another has its name.
	Skipped
	// Kept says that the object has lost its references to what is deleted before its turn came,
	// and stays.
	Kept
	// Ungraceful says that the object is being deleted with a grace period shorter than the one
	// that it was to be given. It cannot be lengthened.
	Ungraceful
	// Unobserved says that the controller of an owner whose dependents are orphaned has not taken
	// notice of the deletion, and may adopt them again.
	Unobserved
)

// Blocked is an object that is to be deleted and still there: it waits for its turn, for finalizers
// to be removed, or for its dependents.
type Blocked struct {
	Object graph.Ref
	// Deleting says that it has a deletionTimestamp, and DeletionTimestamp is that, in seconds
	// since the epoch. For a pod it is when the grace period ends.
	Deleting          bool
	DeletionTimestamp int64
	Finalizers        []string
	// BlockingDependents is how many dependents that block it are waited for too.
	BlockingDependents int
	// CollectorsTurn says that nobody but the garbage collector has to act for it to go.
	CollectorsTurn bool
	// Refused is why the server would not let anybody delete it, if it was asked.
	Refused error
	// Trouble is the condition in which it says what is wrong, as far as it was read; none if its
	// Type is empty.
	Trouble status.Condition
}

// Progress is how far the wait has come.
type Progress struct {
	// Blocked are some of the objects that are not deleted yet, at most MaxReported, the most
	// urgent first.
	Blocked []Blocked
	// BlockedCount is how many objects are not deleted yet.
	BlockedCount int
	// CollectorsTurn is one that nobody but the garbage collector has to act on, and that it may
	// delete as far as is known; nil if there is none.
	CollectorsTurn *Blocked
	// Total is how many objects were waited for in the beginning.
	Total int
	// Wave is the last in which something has happened, of as many as Waves.
	Wave, Waves int
	// Quiet is for how long nothing has happened.
	Quiet time.Duration
}

func compareRefs(a, b graph.Ref) int {
	return cmp.Or(
		strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Group(), b.Group()),
		strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name),
	)
}
