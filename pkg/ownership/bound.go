package ownership

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// end is an object by a link that may lead to it.
type end struct {
	id         graph.ID
	definition *link.Definition
}

// bind notes what an object says it is bound to.
func (s *search) bind(id graph.ID, o *unstructured.Unstructured) {
	for _, d := range s.Definitions {
		if n, ok := d.BoundTo(o.Object); ok {
			s.bound[end{id, d}] = n
		}
	}
}

// conflict returns what the end of a link is bound to in place of its source; empty if that is the source, or if the end does not say.
func (s *search) conflict(f named) string {
	n, ok := s.bound[end{f.End, f.Definition}]
	if !ok || f.Source < 0 || !f.Effect.Deletes {
		return ""
	}
	of := s.Graph.Ref(f.Source)
	if n.Name == of.Name && (n.Namespace == "" || n.Namespace == of.Namespace) && (n.Kind == "" || n.Kind == of.Kind) && (!n.HasGroup || n.Group == of.Group()) {
		return ""
	}
	return graph.Located(n.Kind, n.Namespace, n.Name)
}
