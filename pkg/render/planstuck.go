package render

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// remarkStuck says which objects keep finalizers that nobody removes, because who does so goes first, and what to do instead.
func (p Plan) remarkStuck() string {
	var causes []graph.ID
	objects := map[graph.ID][]string{}
	for _, s := range p.Stuck() {
		if s.Because.Code != plan.ActorDeleted {
			continue
		}
		if objects[s.Because.Cause] == nil {
			causes = append(causes, s.Because.Cause)
		}
		objects[s.Because.Cause] = append(objects[s.Because.Cause], located(p.Graph, s.Object))
	}
	var parts []string
	for _, cause := range causes {
		are, their := "is", "its"
		if len(objects[cause]) > 1 {
			are, their = "are", "their"
		}
		parts = append(parts, fmt.Sprintf("%s %s stuck once %s is deleted: nobody else removes %s finalizers", phrase.FirstFew(objects[cause], maxNamed), are, located(p.Graph, cause), their))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + "; delete what has the finalizers first, and the rest when it is gone"
}
