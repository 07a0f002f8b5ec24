package plan

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// NewRun plans a run of the collector's loop over all there is: what it does until nothing is left that it can do, and nothing that needs
// somebody else to take off a finalizer. It has no roots and no policy.
func NewRun(g *graph.Graph, opts Options) *Plan {
	opts.Rules = Loop
	var candidates []graph.ID
	before := NewOverlay(g, opts)
	for i := range g.Len() {
		if id := graph.ID(i); before.Candidate(id) && (opts.May == nil || opts.May(id)) {
			candidates = append(candidates, id)
		}
	}
	begin := func(s *simulation) {
		for _, id := range candidates {
			s.Look(id)
		}
	}
	held := simulate(g, opts, false, begin)
	p := &Plan{
		Graph: g, options: opts, end: held.Overlay,
		Actions: held.actions, Deleted: held.deleted(), Survivors: held.survivors(), Stuck: held.stuck(), Blockers: held.blockers(),
		DependsOnTiming: held.timing,
	}
	p.settle(held, begin)
	if len(p.Stuck) > 0 {
		released := simulate(g, opts, true, begin)
		p.Stuck, p.Remaining = released.stuck(), held.remaining(released)
	}
	p.explain()
	return p
}
