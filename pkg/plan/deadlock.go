package plan

import (
	"iter"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Deadlocks returns the rings of objects each of which waits, in the foreground, for a dependent
// that waits for the next, so that none can ever finish: all members of a cycle were deleted in the
// foreground, or an object blocks itself (GC-064, RO-023). A ring is its blocking references; its
// first is that of its first member in the order of the graph. An object is in one ring at most.
func (o *Projection) Deadlocks() [][]graph.Edge { return slices.Collect(o.deadlocks(o.Graph.Cycles())) }

// deadlocks iterates over those in some of the cycles of the graph.
func (o *Projection) deadlocks(cycles [][]graph.ID) iter.Seq[[]graph.Edge] {
	return func(yield func([]graph.Edge) bool) {
		found := map[graph.ID]bool{}
		for _, members := range cycles {
			for _, id := range members {
				if found[id] || !o.Waits(id) || o.Gone(id) {
					continue
				}
				ring := o.ring(id)
				for _, e := range ring {
					found[e.Dependent] = true
				}
				if len(ring) > 0 && !yield(ring) {
					return
				}
			}
		}
	}
}

// ring returns the shortest way from an object along the dependents that it waits for back to
// itself, nil if there is none.
func (o *Projection) ring(start graph.ID) []graph.Edge {
	via := map[graph.ID]graph.Edge{}
	for queue := []graph.ID{start}; len(queue) > 0; queue = queue[1:] {
		for e := range o.Dependents(queue[0]) {
			if !o.Blocks(e) || !o.Waits(e.Dependent) {
				continue
			}
			if e.Dependent == start {
				ring := []graph.Edge{e}
				for id := e.Owner; id != start; id = via[id].Owner {
					ring = append(ring, via[id])
				}
				return ring
			}
			if _, seen := via[e.Dependent]; !seen {
				via[e.Dependent] = e
				queue = append(queue, e.Dependent)
			}
		}
	}
	return nil
}
