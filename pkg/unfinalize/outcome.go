package unfinalize

import (
	"errors"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// PutBack is a finalizer that was removed and is on the object again.
type PutBack struct {
	FinalizerRef
	// InRequest says that the server's answer had it already: something that admits writes has put
	// it back (API-033). The removal is not among what is done then, and Err says so.
	InRequest bool
	// Ignored says that the server was asked for another policy and has left the finalizer of the
	// old one (API-006).
	Ignored bool
	// Manager and Time are of the last writer of the finalizer that managedFields name, empty if
	// they name none.
	Manager string
	Time    time.Time
	// Webhooks are the mutating webhooks, and policies, that are called about such writes.
	Webhooks []string
}

func newOutcome(c *Candidate) *Outcome {
	o := &Outcome{Candidate: c, off: map[FinalizerRef]bool{}, asked: map[FinalizerRef]bool{}}
	o.plan()
	return o
}

// Outcome is what came of a candidate.
type Outcome struct {
	Candidate *Candidate
	// Done are the writes that the server has taken.
	Done []Action
	// Err is why not all was done that was agreed: a RefusedError, a cluster.PutBackError,
	// change.ErrReplaced, change.ErrMoved, ErrNotReached, or the server's. The server's own errors
	// name the object.
	Err error
	// Failed is the action that Err is of; nil if there is no Err, or if the object was left alone.
	Failed *Action
	// Gone says that the object is no more; what follows is of one that is still there.
	Gone bool
	// Remaining are the finalizers that are on it, Grace the seconds of a grace period that is
	// pending, and Node where a pod runs that has one.
	Remaining []FinalizerRef
	Grace     int64
	Node      string
	PutBack   []PutBack
	// Half says that it is being deleted and nothing holds it.
	Half bool
	// Unread is why it is not known what has become of it.
	Unread error

	// Of the finalizers: off are those that were removed, asked those that the server was to remove
	// by another policy.
	off, asked map[FinalizerRef]bool
	// next is the action that is due.
	next *Action
}

// LeftAlone says whether nothing was done to the object, or no more, on purpose: it is not what it
// was when it was assessed, or its turn did not come.
func (o *Outcome) LeftAlone() bool {
	var refused *RefusedError
	return errors.As(o.Err, &refused) || errors.Is(o.Err, change.ErrReplaced) || errors.Is(o.Err, ErrNotReached) ||
		errors.Is(o.Err, ErrNotSelected)
}

// IsPutBack says whether all that is wrong is that somebody put a finalizer back.
func (o *Outcome) IsPutBack() bool {
	var back *cluster.PutBackError
	return len(o.PutBack) > 0 && (o.Err == nil || errors.As(o.Err, &back))
}

// failed notes why not all was done, and the action that was due if nothing says which one it was.
func (o *Outcome) failed(err error) {
	o.Err = err
	if o.Failed == nil && !o.LeftAlone() {
		o.Failed = o.next
	}
}
