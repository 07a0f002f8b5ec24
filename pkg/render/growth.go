package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collect"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Growth says what a plan does that was not agreed to.
func Growth(p *collect.Proposal) string {
	var parts []string
	if ids := p.Growth.Deleted; len(ids) > 0 {
		parts = append(parts, fmt.Sprintf("it deletes %s: %s", phrase.Count(len(ids), "more object"),
			SortedFew(KindNamesOf(p.Graph, ids))))
	}
	if ids := p.Growth.Written; len(ids) > 0 {
		parts = append(parts, fmt.Sprintf("it removes owner references or finalizers of %s: %s",
			phrase.Count(len(ids), "more object"), SortedFew(KindNamesOf(p.Graph, ids))))
	}
	return strings.Join(parts, "; ")
}

// Follows writes a line about what a run deletes besides after others have removed their
// finalizers: who agrees to the plan agrees to that. It writes nothing if there is no such object.
func Follows(w io.Writer, p *plan.Plan) {
	if ids := p.Follows(); len(ids) > 0 {
		fmt.Fprintf(w, "deletes %s if other controllers remove their finalizers meanwhile: %s\n",
			phrase.Count(len(ids), "more object"), SortedFew(KindNamesOf(p.Graph, ids)))
	}
}
