package plan

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

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
	s.wave = 1
	if len(b.stages) == 0 {
		b.send(s, b.roots)
		return
	}
	s.staged = newStaging(b)
	s.staged.begin(s, b.stages[0])
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
