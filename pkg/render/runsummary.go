package render

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// RunSummary says what a run has done.
func RunSummary(t *collect.Tally) string {
	var parts []string
	for _, part := range []struct {
		n             int
		format, nouns string
	}{
		{t.Count(plan.VerbDelete), "deleted %s", "object"},
		{t.Begun(), "began to delete %s", "object"},
		{t.Count(plan.VerbOrphan), "removed owner references from %s", "dependent"},
		{t.Count(plan.VerbUnblock), "set blockOwnerDeletion to false on %s", "dependent"},
		{t.Count(plan.VerbRemoveFinalizer), "removed the finalizer of %s", "owner"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf(part.format, phrase.Count(part.n, part.nouns)))
		}
	}
	if len(parts) == 0 {
		return "nothing was collected"
	}
	passes := "1 pass"
	if t.Passes > 1 {
		passes = fmt.Sprintf("%d passes", t.Passes)
	}
	return strings.Join(parts, ", ") + ", in " + passes
}
