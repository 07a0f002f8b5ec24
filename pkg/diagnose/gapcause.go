package diagnose

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// gapClauses says what cannot be listed, and why.
func gapClauses(gaps []v1alpha1.Gap) []string {
	var all []string
	for _, gap := range gaps {
		what := gap.Resource
		if gap.Group != "" {
			what += "." + gap.Group
		}
		if gap.Namespace != "" {
			what += " in " + gap.Namespace
		}
		all = append(all, fmt.Sprintf("%s cannot be listed: %s", what, gap.Message))
	}
	return all
}

// gap returns why something cannot be listed.
func (e *examiner) gap(ctx context.Context, gap v1alpha1.Gap) []finding { return nil }
