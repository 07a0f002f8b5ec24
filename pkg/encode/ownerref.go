package encode

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownerref"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// OwnerPlan is a change of the references of one object as the Plan that -o json prints with --dry-run.
func OwnerPlan(c *ownerref.Change) *v1alpha1.Plan {
	out := emptyPlan()
	out.Roots = append(out.Roots, Ref(c.Object))
	if !c.Nothing() {
		out.Actions = append(out.Actions, ownerAction(c))
	}
	return out
}

// OwnerResult is what came of such a change.
func OwnerResult(c *ownerref.Change, err error) *v1alpha1.Result {
	out := emptyResult()
	switch {
	case answer.IsRefusal(err):
		out.Skipped = append(out.Skipped, v1alpha1.SkippedObject{Object: Ref(c.Object), Because: err.Error()})
	case err != nil:
		out.Failed = append(out.Failed, v1alpha1.FailedAction{Action: ownerAction(c), Error: err.Error()})
	case c.Nothing():
		out.Skipped = append(out.Skipped, v1alpha1.SkippedObject{Object: Ref(c.Object), Because: render.NoOwnerChange(c)})
	default:
		out.Done = append(out.Done, ownerAction(c))
	}
	return out
}

func ownerAction(c *ownerref.Change) v1alpha1.Action {
	return v1alpha1.Action{
		Verb: string(c.Verb), Object: Ref(c.Object), Owners: uids(c.References), Wave: 1, By: string(plan.ByClient),
		Because: render.Sentence(plan.Requested, graph.Ref{}), Reason: string(plan.Requested),
	}
}

// uids are those of references, each once.
func uids(refs []graph.OwnerReference) []string {
	var all []string
	seen := map[string]bool{}
	for _, r := range refs {
		if !seen[r.UID] {
			seen[r.UID] = true
			all = append(all, r.UID)
		}
	}
	return all
}
