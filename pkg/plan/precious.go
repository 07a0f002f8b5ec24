package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Precious returns the name by which a person agrees to a plan that deletes a namespace, a
// CustomResourceDefinition or data, or may do so; empty where a yes is enough. Objects that were
// named come first, then PVCs and volumes.
func (p *Plan) Precious() string {
	going := p.Released()
	all := p.Graph.Refs(slices.Concat(p.Roots, going.PVCs(), going.Volumes(), going.Deleted))
	return Precious(all, len(p.Disks)+len(p.UnreadDisks) > 0)
}

// Precious returns the name of the first namespace or CustomResourceDefinition among objects, or if
// data are lost with them that of the first; empty if there is neither.
func Precious(all []graph.Ref, data bool) string {
	for _, ref := range all {
		switch ref.Group() + "/" + ref.Resource {
		case "/namespaces", "apiextensions.k8s.io/customresourcedefinitions":
			return ref.Name
		}
	}
	if data && len(all) > 0 {
		return all[0].Name
	}
	return ""
}
