package diagnose

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// movement are objects to which something happens if whoever has to act does: an owner and its dependents, or a namespace and what is in it.
type movement struct {
	of  graph.ID
	ids []graph.ID
	// gone says that the owner or the namespace does not exist any more, moved how many of the others have been deleted or orphaned since the snapshot, and
	// unread that not all could be read again.
	gone   bool
	moved  int
	unread bool
}

// movement returns the movement of an owner or a namespace.
func (e *collector) movement(of graph.ID) *movement {
	m := e.movements[of]
	if m == nil {
		m = &movement{of: of, ids: e.movable(of)}
		e.movements[of] = m
	}
	return m
}

// movable returns the dependents of an owner, or what is in a namespace.
func (e *collector) movable(of graph.ID) []graph.ID {
	if ref := e.Graph.Ref(of); ofType(cluster.Namespaces)(ref) && e.Graph.DeletionTimestamp(of) != 0 {
		if content := e.links.Content(of); len(content) > 0 {
			return content
		}
	}
	var ids []graph.ID
	for edge := range e.Graph.Dependents(of) {
		ids = append(ids, edge.Dependent)
	}
	return ids
}

// noun says what the objects are, and verb what happens to them.
func (e *collector) noun(m *movement) (noun, verb string) {
	if ofType(cluster.Namespaces)(e.Graph.Ref(m.of)) {
		return "object", "deleted"
	}
	for _, f := range e.Graph.Finalizers(m.of) {
		if f == plan.OrphanFinalizer {
			return "dependent", "orphaned"
		}
	}
	return "dependent", "deleted"
}
