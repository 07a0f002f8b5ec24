package act

import (
	"cmp"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Event is something that happened to one object.
type Event struct {
	What   What
	Object graph.Ref
	// Policy is the propagation policy of a Deleting.
	Policy string
	// Err is the reason of a Failed or Skipped.
	Err error
}

// What says what happened.
type What uint8

const (
	// Deleting: the delete is about to be sent.
	Deleting What = iota
	// Gone: the object is no more.
	Gone
	// Failed: the server has refused.
	Failed
	// Skipped: the object was gone already, or another has its name.
	Skipped
	// Kept: the object has lost its references to what is deleted before its turn came, and stays.
	Kept
)

// Left is an object that is waited for.
type Left struct {
	Object graph.Ref
	// Deleting says that it has a deletionTimestamp.
	Deleting   bool
	Finalizers []string
	// CollectorsTurn says that nobody but the garbage collector has to act for it to go.
	CollectorsTurn bool
}

func compareRefs(a, b graph.Ref) int {
	return cmp.Or(
		strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Group(), b.Group()),
		strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name),
	)
}
