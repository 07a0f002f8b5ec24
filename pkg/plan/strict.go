package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// strictly simulates a deletion for which the client first makes references block, so that an owner
// that is deleted in the foreground waits for all of its dependents and not only for those that
// block it already (GC-061). The start has these references afterwards. What blocks can make the
// collector delete more in the foreground, so it is found in rounds.
func strictly(g *graph.Graph, begin *start, opts Options) *simulation {
	for {
		s := simulate(g, opts, true, begin.begin)
		more := s.passing()
		if len(more) == 0 {
			return s
		}
		begin.block = append(begin.block, more...)
	}
}

// passing returns the references of deleted objects, to owners that are deleted in the foreground,
// that do not block. References in a cycle are none: there, each would wait for the other (GC-064).
// Nor are those of what does not belong to the roots.
func (s *simulation) passing() []graph.Edge {
	waits := map[graph.ID]bool{}
	for _, a := range s.actions {
		if a.Verb == VerbDelete && a.Policy == Foreground {
			waits[a.Object] = true
		}
	}
	var passing []graph.Edge
	for _, id := range s.deleted() {
		if !s.options.mayChange(id) {
			continue
		}
		for e := range s.Owners(id) {
			if waits[e.Owner] && !e.Block && s.edges[e.Index]&blocking == 0 && !s.inOneCycle(id, e.Owner) {
				passing = append(passing, e)
			}
		}
	}
	return passing
}

func (s *simulation) inOneCycle(a, b graph.ID) bool {
	x, in := s.Graph.Cycle(a)
	y, also := s.Graph.Cycle(b)
	return in && also && x == y
}

// blocks are the writes that make references block, one for each object. They come before the first
// wave.
func blocks(edges []graph.Edge) []Action {
	slices.SortFunc(edges, func(a, b graph.Edge) int { return a.Index - b.Index })
	var actions []Action
	for _, e := range edges { // an object's references stand together
		if n := len(actions); n > 0 && actions[n-1].Object == e.Dependent {
			actions[n-1].Edges = append(actions[n-1].Edges, e.Index)
			continue
		}
		actions = append(actions, Action{
			Verb: VerbBlock, Object: e.Dependent, Edges: []int{e.Index}, By: ByClient,
			Because: Reason{Code: Strict, Cause: e.Owner, HasCause: true},
		})
	}
	return actions
}
