package ownerref

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

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
