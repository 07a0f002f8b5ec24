package render

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
)

// remarkSpared says what stays outside the cluster, a line for each reason, and of what that is not
// known.
func (p Plan) remarkSpared() []remark {
	var reasons []string
	objects := map[string][]graph.ID{}
	for _, s := range p.Spared {
		if objects[s.Because] == nil {
			reasons = append(reasons, s.Because)
		}
		objects[s.Because] = append(objects[s.Because], s.Object)
	}
	var all []remark
	for _, because := range reasons {
		all = append(all, p.about(fmt.Sprintf("what %s manages outside the cluster stays: %s",
			phrase.FirstFew(KindNamesOf(p.Graph, objects[because]), maxNamed), Escape(because)), objects[because]...))
	}
	if len(p.UnreadSpared) > 0 {
		all = append(
			all, p.about(
				fmt.Sprintf("it is unknown whether what %s manages outside the cluster stays: the objects could not be read",
					phrase.FirstFew(KindNamesOf(p.Graph, p.UnreadSpared), maxNamed)), p.UnreadSpared...))
	}
	return all
}
