package render

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// remarkSpared says what stays outside the cluster, a line for each reason, and of what that is not
// known.
func (p Plan) remarkSpared() []remark {
	var all []remark
	for because, objects := range groups(p.Spared,
		func(s v1alpha1.Spared) (string, graph.Ref) { return s.Because, s.Object }) {
		all = append(all, remark{fmt.Sprintf("what %s manages outside the cluster stays: %s",
			few(KindNames(objects...)), Escape(because)), objects})
	}
	return append(all, p.of(p.UnreadSpared, "it is unknown whether what %s manages outside the cluster stays: %s",
		few(KindNamesOf(p.Graph, p.UnreadSpared)), p.whyUnread(p.UnreadSpared))...)
}
