package deletion

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// refuseImmortal is an error if one of the objects that were named cannot be deleted.
func refuseImmortal(objects []selection.Object) error {
	for _, o := range objects {
		if cluster.IsImmortal(o.Ref()) {
			return fmt.Errorf(
				"deleting namespace %q: the API server never deletes it; name what is to be deleted in it", o.Ref().Name)
		}
	}
	return nil
}

// findImmortal returns the namespaces of a plan that the server does not let others delete, with why.
func findImmortal(p *plan.Plan) map[graph.ID]string {
	refused := map[graph.ID]string{}
	for _, a := range p.Actions {
		if a.Verb == plan.VerbDelete && cluster.IsImmortal(p.Graph.Ref(a.Object)) {
			refused[a.Object] = "the API server never deletes it"
		}
	}
	return refused
}
