package plan

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// TakesRounds says of the namespaces, by name, to which the namespace controller has to come back,
// and then asks for discovery again: pods take time to terminate, and finalizers to be removed.
func TakesRounds(g *graph.Graph) map[string]bool {
	names := map[string]bool{}
	for i := range g.Len() {
		id := graph.ID(i)
		if !g.Observed(id) {
			continue
		}
		if ref := g.Ref(id); ref.Namespace != "" &&
			(ref.Resource == "pods" && ref.Group() == "" || len(g.Finalizers(id)) > 0) {
			names[ref.Namespace] = true
		}
	}
	return names
}

// isStuck says that nobody does what an object waits for.
func (r Reason) isStuck() bool {
	return r.Code == ActorDeleted || r.Code == DiscoveryFails || r.Code == LinkRefused
}
