package deletion

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// isImmortal says whether an object is a namespace that every API server refuses to delete,
// whoever asks (k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle).
func isImmortal(ref graph.Ref) bool {
	return isOf(ref, []schema.GroupResource{cluster.Namespaces}) &&
		slices.Contains([]string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}, ref.Name)
}

// refuseImmortal is an error if one of the objects that were named cannot be deleted.
func refuseImmortal(objects []selection.Object) error {
	for _, o := range objects {
		if isImmortal(o.Ref()) {
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
		if a.Verb == plan.VerbDelete && isImmortal(p.Graph.Ref(a.Object)) {
			refused[a.Object] = "the API server never deletes it"
		}
	}
	return refused
}
