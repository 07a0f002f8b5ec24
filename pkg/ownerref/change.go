package ownerref

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
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

// Printed is the change as the Plan that -o json prints with --dry-run.
func (c *Change) Printed() *v1alpha1.Plan {
	out := v1alpha1.NewPlan(nil)
	out.Roots = append(out.Roots, c.Object)
	if !c.Nothing() {
		out.Actions = append(out.Actions, c.printed())
	}
	return out
}

// Result is what came of it as it is printed.
func (c *Change) Result(err error) *v1alpha1.Result {
	out := v1alpha1.NewResult(nil)
	switch {
	case answer.IsRefusal(err):
		out.Skip(c.Object, err.Error())
	case err == nil && c.Nothing():
		out.Skip(c.Object, c.NoChange())
	default:
		out.Add(c.printed(), err)
	}
	return out
}

func (c *Change) printed() v1alpha1.Action {
	return v1alpha1.Action{
		Verb: string(c.Verb), Object: c.Object, Owners: graph.UIDs(c.References), Wave: 1, By: string(plan.ByClient),
		Because: plan.Requested.Sentence(graph.Ref{}), Reason: string(plan.Requested),
	}
}

// NoChange says in a clause why there is nothing to change.
func (c *Change) NoChange() string {
	if c.Verb == VerbAdopt {
		return "it has the reference already"
	}
	return "it has no such reference"
}
