package deletion

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Result is what came of performing a plan.
type Result struct {
	*act.Result
	// Planned is the last plan that was agreed to.
	Planned *Planned
	// Archived says that an archive was written.
	Archived bool
	// Collected are the writes of ClientGC, and Unread what it could not read.
	Collected []collect.Event
	Unread    []v1alpha1.Gap
	// LeftAlone are the dependents that ClientGC did not write to because no plan has them.
	LeftAlone []graph.Ref
	// Deadlocked are the objects that will never be gone, and Unchecked those of which that was
	// planned and could not be checked.
	Deadlocked []Deadlocked
	Unchecked  []Unchecked
	// Gone are, of a Wait, the objects that are deleted, in the order in which that was seen.
	Gone []graph.Ref
	// TimedOut says that the wait ended at its timeout.
	TimedOut bool
}
