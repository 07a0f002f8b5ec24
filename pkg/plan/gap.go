package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Relevant returns the gaps in which a dependent of what is deleted can be hidden. The dependents of a namespaced object are in
// its namespace: a cluster-scoped one that names it is a mistake that the collector never acts on (GC-048). Those of a
// cluster-scoped object can be anywhere, and a group whose discovery failed can hold anything.
func (p *Plan) Relevant(gaps []v1alpha1.Gap) []v1alpha1.Gap {
	namespaces := map[string]bool{}
	for _, ids := range [][]graph.ID{p.Deleted, p.Roots} {
		for _, id := range ids {
			namespaces[p.Graph.Ref(id).Namespace] = true
		}
	}
	namespaced := map[[2]string]bool{}
	known := map[[2]string]bool{}
	for _, t := range p.Graph.Types() {
		key := [2]string{t.Group, t.Resource}
		known[key], namespaced[key] = true, t.Namespaced
	}
	var relevant []v1alpha1.Gap
	for _, gap := range gaps {
		key := [2]string{gap.Group, gap.Resource}
		elsewhere := gap.Namespace != "" && !namespaces[gap.Namespace]
		if namespaces[""] || !elsewhere && (!known[key] || namespaced[key]) {
			relevant = append(relevant, gap)
		}
	}
	return relevant
}
