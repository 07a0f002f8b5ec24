package render

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
)

// DeletionPlan is what there is to show of the plan of a deletion; without a Plan if nothing was found
// to delete.
func DeletionPlan(p *deletion.Planned) Plan {
	if p.Plan == nil {
		return Plan{}
	}
	return Plan{Plan: p.Plan, Rows: p.Rows(), Gaps: p.Hiding, Known: p.Known, Asked: p.Asked, Unordered: p.OrderSentence(),
		Unfinished: p.WouldBeStuck(), Refusals: p.Refusals}
}

// DeletionWords are the words of a deletion's errors.
func DeletionWords(p *deletion.Planned) deletion.Words {
	return deletion.Words{
		Remaining: func(left []act.Blocked) string { return WaitsOf(p).Remaining(left, len(left)) },
	}
}
