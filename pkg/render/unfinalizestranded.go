package render

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// strandedLines name what is left in namespaces, which is lost with those that are finalized all
// the same.
func strandedLines(p *unfinalize.Planned) []string {
	var lines []string
	for _, c := range p.Candidates() {
		e := c.Stranded()
		if e == nil || e.Proven() {
			continue
		}
		head := "left in namespace %s:"
		if !c.Refused(p.Overrides) {
			head = "stranded in namespace %s, out of reach until a namespace of that name is made again:"
		}
		lines = append(lines, fmt.Sprintf(head, Escape(c.Ref.Name)))
		for _, r := range e.Remaining {
			lines = append(lines, "  "+TypeName(r))
		}
		for _, g := range e.Gaps {
			lines = append(lines, fmt.Sprintf("  possibly %s, which could not be listed: %s", Escape(g.TypeName()),
				Escape(Shorten(g.Message))))
		}
	}
	return lines
}
