package unfinalize

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Done is a write that the server has taken.
type Done struct {
	Verb   plan.Verb
	Object graph.Ref
	// Policy is that of a delete.
	Policy plan.Policy
	// Finalizers are those that came off.
	Finalizers []string
	// Owners are the uids of the references that came off.
	Owners []string
	// Cause is the owner because of which a reference came off; its uid is empty otherwise.
	Cause graph.Ref
	// Outside says what stays outside the cluster without the Finalizers, as far as the object names it.
	Outside []string
}

// PutBack is a finalizer that was removed and is on the object again.
type PutBack struct {
	Held
	// InRequest says that the server's answer had it already: something that admits writes has put it back (API-033). The removal is not among what is
	// done then, and Err says so.
	InRequest bool
	// Ignored says that the server was asked for another policy and has left the finalizer of the old one (API-006).
	Ignored bool
	// Manager and Time are of the last writer of the finalizer that managedFields name, empty if they name none.
	Manager string
	Time    time.Time
	// Webhooks are the mutating webhooks, and policies, that are called about such writes.
	Webhooks []string
}

func newOutcome(c *Case) *Outcome {
	return &Outcome{Case: c, off: map[Held]bool{}, asked: map[Held]bool{}}
}

// Outcome is what came of a case.
type Outcome struct {
	Case *Case
	Done []Done
	// Err is why not all was done that was agreed: a RefusedError, a cluster.PutBackError, ErrReplaced, ErrMoved, ErrNotReached, or the server's. The
	// server's own errors name the object.
	Err error
	// Gone says that the object is no more; what follows is of one that is still there.
	Gone bool
	// Left are the finalizers that are on it, Grace the seconds of a grace period that is pending, and Node where a pod runs that has one.
	Left    []Held
	Grace   int64
	Node    string
	PutBack []PutBack
	// Half says that it is being deleted and nothing holds it.
	Half bool
	// Unread is why it is not known what has become of it.
	Unread error

	// Of the finalizers: off are those that were taken off, asked those that the server was to take off by another policy.
	off, asked map[Held]bool
}
