package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// UnfinalizePlan writes what would be done about finalizers, what is known of them, what follows,
// and what would be left behind. With numbers the finalizers are there to be chosen from, and
// nothing is counted.
func UnfinalizePlan(w io.Writer, p *unfinalize.Planned, numbers bool, s Style) error {
	if err := VerdictTable(w, rowsOf(p, numbers), s); err != nil {
		return err
	}
	lines := slices.Concat(explanations(p), afterLines(p), outsideLines(p), strandedLines(p))
	if !numbers {
		lines = append(lines, unfinalizeSummary(p))
	}
	return Paragraphs(w, lines, s)
}

// UnfinalizeNames writes the names of the objects that are not refused.
func UnfinalizeNames(w io.Writer, p *unfinalize.Planned) error {
	return writeNames(w, slices.Values(p.Allowed().Candidates()), func(c *unfinalize.Candidate) graph.Ref { return c.Ref })
}

// UnfinalizeNothing says that nothing was found.
func UnfinalizeNothing(p *unfinalize.Planned) string {
	if len(p.Gaps) > 0 {
		return "No resources found that have the finalizer in the types that could be listed"
	}
	return "No resources found that have the finalizer"
}

// unfinalizeSummary counts what would be done.
func unfinalizeSummary(p *unfinalize.Planned) string {
	finalizers, objects, refused, again, unsure := 0, 0, 0, 0, 0
	asked, unasked := p.Overrides, p.Overrides
	asked.Asked, unasked.Asked = true, false
	for _, c := range p.Candidates() {
		if c.Refused(asked) {
			refused++
			continue
		}
		if c.Refused(unasked) {
			unsure++
		}
		objects++
		for _, v := range c.Assessments {
			if v.Method == unfinalize.ByDelete {
				again++
			} else {
				finalizers++
			}
		}
	}
	var parts []string
	if finalizers > 0 {
		parts = append(parts, fmt.Sprintf("removes %s from %s", phrase.Count(finalizers, "finalizer"),
			phrase.Count(objects-again, "object")))
	}
	if again > 0 {
		parts = append(parts, fmt.Sprintf("deletes %s again", phrase.Count(again, "object")))
	}
	if unsure > 0 {
		parts = append(parts, fmt.Sprintf("%s %s confirmation", phrase.Count(unsure, "object"),
			phrase.Plural(unsure, "needs", "need")))
	}
	if refused > 0 {
		parts = append(parts, "refuses "+phrase.Count(refused, "object"))
	}
	return strings.Join(parts, "; ")
}
