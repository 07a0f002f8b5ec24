package plan

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// dependentsFirst orders the roots so that one that another owns, directly or not, comes before it.
// By the time the owner is being deleted the dependent is too, and what becomes of it does not
// depend on how fast the collector is: it would otherwise take a reference to a waiting owner off a
// dependent that has another.
func dependentsFirst(g *graph.Graph, roots []graph.ID) []graph.ID {
	if len(roots) < 2 {
		return roots
	}
	depth := depths(g, roots)
	roots = slices.Compact(slices.Sorted(slices.Values(roots)))
	slices.SortStableFunc(roots, func(a, b graph.ID) int { return cmp.Compare(depth[a], depth[b]) })
	return roots
}

// Batches returns the deletes of the roots, in the order that the roots are planned in. Those of
// one batch own each other in no way, so they may be sent side by side; a batch is sent when the
// one before it is answered.
func (p *Plan) Batches() [][]Action {
	depth := depths(p.Graph, p.Roots)
	var batches [][]Action
	for _, a := range p.Actions {
		if a.Because.Code != Requested && a.Because.Code != Ordered {
			continue
		}
		for len(batches) <= depth[a.Object] {
			batches = append(batches, nil)
		}
		batches[depth[a.Object]] = append(batches[depth[a.Object]], a)
	}
	return batches
}

// depths counts for each root how many other roots are, one below the other, below it. Members of a
// cycle own each other both ways: each is one deeper than the one before.
func depths(g *graph.Graph, roots []graph.ID) map[graph.ID]int {
	depth := make(map[graph.ID]int, len(roots))
	isRoot := graph.SetOf(roots)
	above := map[graph.ID]int{}     // the depth of a root right above an object
	visited := map[int][]graph.ID{} // members of a cycle
	dependentsBeforeOwners(g, roots, func(id graph.ID) {
		members := []graph.ID{id}
		if cycle, ok := g.Cycle(id); ok {
			visited[cycle] = append(visited[cycle], id)
			if members = visited[cycle]; len(members) < len(g.Cycles()[cycle]) {
				return // what is below a cycle is known when all of it was visited
			}
		}
		d := 0
		for _, member := range members {
			for e := range g.Dependents(member) {
				d = max(d, above[e.Dependent])
			}
		}
		for _, member := range members {
			if isRoot[member] {
				depth[member] = d
				d++
			}
		}
		for _, member := range members {
			above[member] = d
		}
	})
	return depth
}

// dependentsBeforeOwners visits all that is at or below the given objects, each once and, but for
// where a cycle closes, after what is below it.
func dependentsBeforeOwners(g *graph.Graph, from []graph.ID, visit func(graph.ID)) {
	type step struct {
		id    graph.ID
		leave bool
	}
	visited := make([]bool, g.Len())
	for _, id := range slices.Sorted(slices.Values(from)) {
		stack := []step{{id: id}}
		for len(stack) > 0 {
			s := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			switch {
			case s.leave:
				visit(s.id)
			case !visited[s.id]:
				visited[s.id] = true
				stack = append(stack, step{s.id, true})
				for e := range g.Dependents(s.id) {
					stack = append(stack, step{id: e.Dependent})
				}
			}
		}
	}
}

// start is how a deletion begins: with the deletes of the client, in the first wave.
type start struct {
	roots  []graph.ID
	policy Policy
	opts   Options
	// stages are the roots in the stages of an ordered deletion, with what is deleted before what
	// takes it along; none of any other.
	stages [][]graph.ID
	// block are references that are made to block before that.
	block []graph.Edge
}

// begin sends the deletes, of an ordered deletion those of the first stage.
func (b start) begin(s *simulation) {
	for _, e := range b.block {
		s.edges[e.Index] |= blocking
	}
	b.orphanPending(s)
	s.wave = 1
	if len(b.stages) == 0 {
		b.send(s, b.roots)
		return
	}
	s.staged = newStaging(b)
	s.staged.begin(s, b.stages[0])
}

// orphanPending takes off the references to what orphans its dependents since before: the collector
// has that in its queue already, and nobody waits for it (GC-067). What is deleted once more waits
// for the finalizer of its new policy instead (API-003), and the loop takes up what orphans itself.
func (b start) orphanPending(s *simulation) {
	if s.options.Rules == Loop {
		return
	}
	again := graph.SetOf(slices.Concat(append(b.stages[:len(b.stages):len(b.stages)], b.roots)...))
	for id := range s.Graph.IDs() {
		if !s.Orphans(id) || again[id] {
			continue
		}
		for e := range s.Dependents(id) {
			s.edges[e.Index] |= ownerRefRemoved | released
		}
	}
}

// send sends the deletes of some objects, and before them of what programs would delete in another
// way.
func (b start) send(s *simulation, objects []graph.ID) {
	policyOf := func(id graph.ID) Policy { return cmp.Or(b.opts.Policies[id], b.policy) }
	first := inForeground(s.Graph, slices.DeleteFunc(slices.Clone(objects),
		func(id graph.ID) bool { return policyOf(id) != Foreground }), b.opts)
	send := func(id graph.ID, policy Policy, because Reason) {
		if !s.is(id, gone) {
			s.delete(id, policy, ByClient, because)
		}
		if s.order.between {
			s.drain()
		}
	}
	for _, f := range first {
		send(f.Object, Foreground, f.Because)
	}
	for _, id := range dependentsFirst(s.Graph, objects) {
		if !slices.ContainsFunc(first, func(f ObjectReason) bool { return f.Object == id }) {
			send(id, policyOf(id), s.requested(id))
		}
	}
}

// First returns the deletes of the client that come before those of the roots. The roots are not to
// be deleted unless what these delete is being deleted or gone: programs would delete it, in
// another way.
func (p *Plan) First() []Action {
	var first []Action
	for _, a := range p.Actions {
		if a.Because.Code == LinkFirst {
			first = append(first, a)
		}
	}
	return first
}

// inForeground are what programs would delete in the background although these roots are deleted in
// the foreground, because the roots do not have the field that says otherwise. The client deletes
// them in the foreground itself, before the roots. The DELETE of the program comes second: it has
// no policy, and the server leaves the finalizer of the first on the object (API-002). What only an
// unconfirmed link leads to is left to the program.
func inForeground(g *graph.Graph, roots []graph.ID, opts Options) []ObjectReason {
	var first []ObjectReason
	for _, root := range roots {
		for _, f := range opts.Links.Found(root) {
			known := slices.ContainsFunc(first, func(r ObjectReason) bool { return r.Object == f.End })
			background := f.Definition.Deletion.Foreground != "" && f.Source == root && f.Deletes() &&
				f.Effect.Policy == link.Background
			if background && !known && opts.mayChange(f.End) && g.Observed(f.End) && g.State(f.End) != graph.Deleting {
				first = append(first, ObjectReason{f.End, Reason{Code: LinkFirst, Cause: root, HasCause: true}})
			}
		}
	}
	return first
}
