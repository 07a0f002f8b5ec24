package render

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/act"
	"github.com/kubectl-gc/kubectl-gc/pkg/deletion"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// DeletionPlan is what there is to show of the plan of a deletion.
func DeletionPlan(p *deletion.Planned) Plan {
	return Plan{Plan: p.Plan, Rows: p.Rows(), Gaps: p.Hiding, Known: p.Known, Asked: p.Asked, Unordered: p.OrderSentence()}
}

// DeletionWords are the words of a deletion's errors. What is known of finalizers may be nothing.
func DeletionWords(known *finalizer.Registry) deletion.Words {
	return deletion.Words{
		Remaining: func(left []act.Blocked) string { return Waits{known, time.Now()}.Remaining(left, len(left)) },
		Because:   SurvivorSentence,
	}
}
