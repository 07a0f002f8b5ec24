package render

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Sentence words a reason whose cause is no node of a plan's graph; its uid is empty if there is
// none. Text that objects supplied is escaped.
func Sentence(code plan.ReasonCode, cause graph.Ref) string {
	s := reasons[code]
	if cause.UID == "" || s.with == "" {
		return s.without
	}
	return strings.Replace(s.with, "%", Escape(cause.Kind)+"/"+Escape(cause.Name), 1)
}

// SurvivorSentence says why an object is left.
func SurvivorSentence(g *graph.Graph, s plan.ObjectReason) string {
	return Because(g, s.Object, s.Because)
}
