package render

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// remarkStages says what an ordered deletion deletes in each stage.
func (p Plan) remarkStages() string {
	var lines []string
	for i, s := range p.Stages() {
		line := fmt.Sprintf("stage %d deletes %s", i+1, phrase.FirstFew(KindNamesOf(p.Graph, s.Objects), maxNamed))
		if more := len(s.Deleted) - len(s.Objects); more > 0 {
			line += fmt.Sprintf("; %d more go with them", more)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// remarkOrderCycle says why an ordered deletion has no order.
func (p Plan) remarkOrderCycle() string {
	if p.Unordered == "" {
		return ""
	}
	return "there is no order in which all can be deleted: " + Escape(p.Unordered)
}
