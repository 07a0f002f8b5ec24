package deletion

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Source returns the file, URL or kustomization that names one of some objects, or what that is
// deleted because of; otherwise the one of the first object that is to be deleted. It is empty if
// no file names objects.
func (p *Planned) Source(of []graph.Ref) string {
	if len(p.sources) == 0 {
		return ""
	}
	because := map[graph.ID]plan.Reason{}
	for _, a := range p.Actions {
		because[a.Object] = a.Because
	}
	for _, ref := range slices.Concat(of, p.Graph.Refs(p.named)) {
		id, known := p.Graph.Lookup(ref.UID)
		for seen := 0; known && seen <= len(because); seen++ { // causes may be a cycle
			if source := p.sources[p.Graph.Ref(id).UID]; source != "" {
				return source
			}
			id, known = because[id].Cause, because[id].HasCause
		}
	}
	return ""
}
