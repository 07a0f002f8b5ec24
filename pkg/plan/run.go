package plan

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// NewRun plans a run of the collector's loop over all there is: what it does until nothing is left that it can do, and nothing that needs
// somebody else to take off a finalizer. It has no roots and no policy.
func NewRun(g *graph.Graph, opts Options) *Plan {
	opts.Rules = Loop
	s := simulate(g, opts, false, func(s *simulation) {
		for i := range g.Len() {
			if id := graph.ID(i); s.Candidate(id) {
				s.Look(id)
			}
		}
	})
	return &Plan{
		Graph: g, options: opts, end: s.Overlay,
		Actions: s.actions, Deleted: s.deleted(), Survivors: s.survivors(), Stuck: s.stuck(), Blockers: s.blockers(),
		DependsOnTiming: s.timing,
	}
}
