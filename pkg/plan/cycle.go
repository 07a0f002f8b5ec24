package plan

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// cycles returns the deadlocks in which what is stuck ends, as rings of objects each of which waits
// for the next and the last for the first (GC-064). Each begins with its first member in the order
// of the graph.
func (p *Plan) cycles() [][]graph.ID {
	if len(p.Deadlocked) == 0 {
		return nil
	}
	stuck := newSet(p.Graph, objects(p.Deadlocked))
	var cycles [][]graph.ID
	for _, ring := range p.end.Deadlocks() {
		first := ring[0].Dependent
		if !stuck[first] {
			continue // it has nothing to do with this deletion
		}
		cycle := []graph.ID{first}
		for i := len(ring) - 1; i > 0; i-- { // the references of a ring stand from its end to its beginning
			cycle = append(cycle, ring[i].Dependent)
		}
		cycles = append(cycles, cycle)
	}
	return cycles
}
