package diagnose

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// movement returns the movement of an owner or a namespace.
func (e *collector) movement(of graph.ID) *core.Movement {
	m := e.movements[of]
	if m == nil {
		m = &core.Movement{Of: of, Ids: e.movable(of)}
		e.movements[of] = m
	}
	return m
}

// movable returns the dependents of an owner, or what is in a namespace.
func (e *collector) movable(of graph.ID) []graph.ID {
	if ref := e.Graph.Ref(of); core.OfType(cluster.Namespaces)(ref) && e.Graph.DeletionTimestamp(of) != 0 {
		if content := e.Links.Content(of); len(content) > 0 {
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
func (e *collector) noun(m *core.Movement) (noun, verb string) {
	if core.OfType(cluster.Namespaces)(e.Graph.Ref(m.Of)) {
		return "object", "deleted"
	}
	for _, f := range e.Graph.Finalizers(m.Of) {
		if f == plan.OrphanFinalizer {
			return "dependent", "orphaned"
		}
	}
	return "dependent", "deleted"
}
