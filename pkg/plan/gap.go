package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Relevant returns the gaps in which a dependent of what is deleted can be hidden.
func (p *Plan) Relevant(gaps []v1alpha1.Gap) []v1alpha1.Gap {
	if len(gaps) == 0 {
		return nil
	}
	namespaces := map[string]bool{}
	for _, ids := range [][]graph.ID{p.Deleted, p.Roots} {
		for _, id := range ids {
			namespaces[p.Graph.Ref(id).Namespace] = true
		}
	}
	return hidingIn(p.Graph, gaps, namespaces)
}

// Hiding returns the gaps in which a dependent of one of the owners can be hidden. The dependents
// of a namespaced object are in its namespace: a cluster-scoped one that names it is a mistake that
// the collector never acts on (GC-048). Those of a cluster-scoped object can be anywhere, and a
// group whose discovery failed can hold anything (RO-012).
func Hiding(g *graph.Graph, gaps []v1alpha1.Gap, owners ...graph.Ref) []v1alpha1.Gap {
	namespaces := map[string]bool{}
	for _, o := range owners {
		namespaces[o.Namespace] = true
	}
	return hidingIn(g, gaps, namespaces)
}

// hidingIn is Hiding for owners in some namespaces; the empty one is that of cluster-scoped owners.
func hidingIn(g *graph.Graph, gaps []v1alpha1.Gap, namespaces map[string]bool) []v1alpha1.Gap {
	var hiding []v1alpha1.Gap
	for _, gap := range gaps {
		namespaced, known := g.Scope(gap.Group, gap.Resource)
		elsewhere := gap.Namespace != "" && !namespaces[gap.Namespace]
		if namespaces[""] || !elsewhere && (!known || namespaced) {
			hiding = append(hiding, gap)
		}
	}
	return hiding
}
