package graph

import "github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"

// Hiding returns the gaps in which a dependent of one of the owners can be hidden. The dependents
// of a namespaced object are in its namespace: a cluster-scoped one that names it is a mistake that
// the collector never acts on (GC-048). Those of a cluster-scoped object can be anywhere, and a
// group whose discovery failed can hold anything (RO-012).
func (g *Graph) Hiding(gaps []v1alpha1.Gap, owners ...Ref) []v1alpha1.Gap {
	namespaces := map[string]bool{}
	for _, o := range owners {
		namespaces[o.Namespace] = true
	}
	return g.HidingIn(gaps, namespaces)
}

// HidingIn is Hiding for owners in some namespaces; the empty one is that of cluster-scoped owners.
func (g *Graph) HidingIn(gaps []v1alpha1.Gap, namespaces map[string]bool) []v1alpha1.Gap {
	var hiding []v1alpha1.Gap
	for _, gap := range gaps {
		namespaced, known := g.Scope(gap.Group, gap.Resource)
		elsewhere := gap.Namespace != "" && !namespaces[gap.Namespace]
		if namespaces[""] || !elsewhere && (!known || namespaced && !g.isElsewhere(gap, namespaces)) {
			hiding = append(hiding, gap)
		}
	}
	return hiding
}

// isElsewhere reports whether a dump has all objects of the type of a gap in each of some namespaces:
// the gap is of others then. What a cluster does not list may have changed since it was listed.
func (g *Graph) isElsewhere(gap v1alpha1.Gap, namespaces map[string]bool) bool {
	if gap.Reason != v1alpha1.GapNotSaved || len(namespaces) == 0 {
		return false
	}
	for namespace := range namespaces {
		if !g.Lists(gap.Group, gap.Resource, namespace) {
			return false
		}
	}
	return true
}
