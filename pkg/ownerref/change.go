package ownerref

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// VerbAdopt sets a reference of an object; plan.VerbOrphan removes some.
const VerbAdopt plan.Verb = "adopt"

// Change is what is, or would be, done to the references of one object.
type Change struct {
	Verb   plan.Verb
	Object graph.Ref
	// References are those that are set or removed; none if there is nothing to change.
	References []graph.OwnerReference
	// Warnings are sentences about what may come of it.
	Warnings []string
	// End is what becomes of an object that has lost references, and Left are the owners that it
	// keeps; of plan.VerbOrphan.
	End  End
	Left []Owner
}

// Nothing says that there is nothing to change.
func (c *Change) Nothing() bool { return len(c.References) == 0 }

// right is the right to do something to an object.
func right(verb string, o selection.Object) cluster.Access {
	return cluster.Access{Verb: verb, Type: o.Type, Namespace: o.Namespace, Name: o.Name}
}
