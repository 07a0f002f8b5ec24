package render

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/approval"
)

// mostDifferences is how many lines of a difference are shown.
const mostDifferences = 20

// PlanDifference is what a plan does beside the approved one, a line each: "+" is what it does
// more, "-" what it does not do any more.
func PlanDifference(d *approval.Difference) string {
	var lines []string
	for _, words := range d.More {
		lines = append(lines, "+ "+Escape(words))
	}
	for _, words := range d.Less {
		lines = append(lines, "- "+Escape(words))
	}
	if more := len(lines) - mostDifferences; more > 0 {
		lines = append(lines[:mostDifferences], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}
