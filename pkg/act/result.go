package act

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// Result is what came of a plan.
type Result struct {
	Done    []Done
	Failed  []Failure
	Skipped []Failure
	// Orphaned are the dependents that were to be left behind, as they were found in the end.
	Orphaned []Orphan
	// Blocked are the objects that were waited for and are still there.
	Blocked []Blocked
	// Unseen is what was waited for and may neither be watched, listed nor read any more: whether
	// it is gone is not known.
	Unseen []Unseen
	// Kept are the objects that were to be deleted and are not waited for any more, because
	// programs have left them alone, or what was to take them along.
	Kept []KeptObject
	// Unplanned is what was seen to be deleted with the cascade though no plan has it, because it
	// belongs to something that was deleted. It is what the watches have shown, which need not be
	// all.
	Unplanned []graph.Ref
	// Declined is why the roots that had been changed were not deleted after they were planned
	// again; they are among the Failed.
	Declined error
}

// WaitedFor are the objects that were waited for: those that are being deleted, or all if none is.
// The others wait for these.
func (r *Result) WaitedFor() []graph.Ref {
	deleting := slices.ContainsFunc(r.Blocked, func(l Blocked) bool { return l.Deleting })
	var refs []graph.Ref
	for _, l := range r.Blocked {
		if l.Deleting || !deleting {
			refs = append(refs, l.Object)
		}
	}
	return refs
}

// Unseen is an object that nothing is known of, and what the server says of that.
type Unseen struct {
	Object graph.Ref
	Err    error
}

// KeptObject is an object that stays though it was to be deleted.
type KeptObject struct {
	Object graph.Ref
	// By is the object that is gone and whose deletion was to have a program delete it. It is empty
	// if it stays because of another that does.
	By graph.Ref
	// Within is how long after that the program deletes at the latest, where no finalizer showed that
	// it has done what it does: it may still, if it did not run. Zero where one showed it.
	Within time.Duration
}

// Done is an action that was carried out. Its IDs are those of the Graph: a plan that was made
// again has one of its own.
type Done struct {
	plan.Action
	Graph *graph.Graph
}

// Failure is an action that was not carried out, and why.
type Failure struct {
	Action plan.Action
	Graph  *graph.Graph
	Err    error
	// ByAdmission says of a dry run that the server refuses the delete to all who may delete the
	// object.
	ByAdmission bool
}

// Why an action was not carried out, where it is not the server that says so.
var (
	// ErrChanged is of a root whose owners or finalizers are not what the plan rests on.
	ErrChanged = errors.New("its finalizers or owners were changed since the plan was made")
	// ErrInterrupted is of a delete whose answer did not come before the end.
	ErrInterrupted = errors.New("interrupted before the server answered; it may be deleted all the same")
	// ErrNotSent is of a delete whose turn did not come before the end.
	ErrNotSent = errors.New("interrupted before its turn came")
	// ErrPolicyIgnored is of a delete that the server has carried out with another propagation
	// policy than the one asked for.
	ErrPolicyIgnored = errors.New("the server deleted it without following the propagation policy")

	errNoPolicy   = errors.New("the server does not follow the propagation policy")
	errNotMeant   = errors.New("it no longer matches the selector")
	errUnprepared = errors.New("not all owners could be made to wait for their dependents")
)

// leftOut is an error of a root that a new plan leaves out.
type leftOut struct{ error }

// Is makes it one of the objects that are skipped.
func (leftOut) Is(target error) bool { return target == errNotMeant }

// Event is something that happened to one object, the Action's: a wait tells more than what became
// of a write. The Err is the reason of a Failed or Skipped.
type Event struct {
	plan.Event
	Type EventType
	// GracePeriodSeconds is the object's own, of an Ungraceful.
	GracePeriodSeconds int64
}

// eventOf is what has happened to an object that is to be deleted.
func eventOf(what EventType, object graph.Ref, err error) Event {
	return Event{Event: plan.Event{Action: plan.Write{Verb: plan.VerbDelete, Object: object}, Err: err}, Type: what}
}

// ofAction is what has come of an action of a plan.
func ofAction(what EventType, g *graph.Graph, a plan.Action, err error) Event {
	e := eventOf(what, g.Ref(a.Object), err)
	e.Action.Policy = a.Policy
	return e
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
	// InSpec are the finalizers of others in the spec of a namespace, as far as it was read.
	InSpec []string
	// BlockingDependents is how many dependents that block it are waited for too.
	BlockingDependents int
	// CollectorsTurn says that nobody but the garbage collector has to act for it to go.
	CollectorsTurn bool
	// Untold says that a program without a finalizer deletes it because another object was deleted,
	// which is gone: until it does, nothing in the cluster tells that it goes.
	Untold bool
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
