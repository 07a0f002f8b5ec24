package plan

import (
	"cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Write is an Action as it is carried out: by references instead of the ids of a graph.
type Write struct {
	Verb   Verb
	Object graph.Ref
	// Policy is that of a delete.
	Policy Policy
	// Finalizers are the names of those that it removes.
	Finalizers []string
	// RemainingFinalizers are those that the object still has after a delete, or after some were
	// removed.
	RemainingFinalizers []string
	// Owners are the uids of the owners whose references are removed, or no longer block.
	Owners []string
	// Because is why, and Cause the owner that it is about; its uid is empty if there is none.
	Because ReasonCode
	Cause   graph.Ref
	// Outside says what stays outside the cluster without the Finalizers, as far as the object
	// names it.
	Outside []string
	// Pass is that of the loop which it belongs to, from 1; 0 outside of a loop.
	Pass int
}

// Printed is the write as it is printed.
func (w Write) Printed(by By) v1alpha1.Action {
	return v1alpha1.Action{
		Verb: string(w.Verb), Object: w.Object, Policy: string(w.Policy), Owners: w.Owners, Finalizers: w.Finalizers,
		Wave: cmp.Or(w.Pass, 1), By: string(by), Because: w.Because.Sentence(w.Cause), Reason: string(w.Because),
		Outside: w.Outside,
	}
}

// Event is a Write that was tried, and what came of it: all engines tell of their writes so.
type Event struct {
	Action Write
	// Err is nil if the server has taken it and answered with what was asked; a
	// *cluster.PutBackError if it has taken it in vain.
	Err error
}
