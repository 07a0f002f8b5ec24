package plan

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// Stuck are those of Deadlocked that wait, directly or not, for what nobody does: finalizers whose
// actors go first, and objects whose deletion the server refuses; sorted.
func (p *Plan) Stuck() []ObjectReason {
	waits := make(map[graph.ID]Reason, len(p.Deadlocked))
	for _, d := range p.Deadlocked {
		waits[d.Object] = d.Because
	}
	known := make(map[graph.ID]bool, len(p.Deadlocked))
	for id := range p.options.protected {
		known[id] = true
	}
	var stuck []ObjectReason
	for _, d := range p.Deadlocked {
		var way []graph.ID
		is := false
		for id := d.Object; ; id = waits[id].Cause {
			r, waiting := waits[id]
			verdict, seen := known[id]
			if seen || !waiting || !r.HasCause || r.isStuck() {
				is = verdict || waiting && r.isStuck()
				break
			}
			known[id] = false // so that a cycle ends here
			way = append(way, id)
		}
		for _, id := range way {
			known[id] = is
		}
		if is {
			stuck = append(stuck, d)
		}
	}
	return stuck
}
