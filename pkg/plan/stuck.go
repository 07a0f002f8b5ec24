package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

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

// TakesRounds says of the namespaces, by name, to which the namespace controller has to come back,
// and then asks for discovery again: pods take time to terminate, and finalizers to be removed.
func TakesRounds(g *graph.Graph) map[string]bool {
	names := map[string]bool{}
	for id := range g.IDs() {
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

// NotDeleted returns the objects that a loop may write to and has not deleted when it came to its
// end, and why: those that are terminating and wait for somebody else, and those of which it could
// not resolve an owner.
func (o *Projection) NotDeleted(may func(graph.ID) bool) []ObjectReason {
	s := &simulation{Projection: o, options: Options{Rules: Loop}}
	var rest []ObjectReason
	for id := range o.Graph.IDs() {
		switch {
		case !o.Graph.Observed(id) || o.Gone(id) || may != nil && !may(id):
		case o.Deleting(id):
			rest = append(rest, ObjectReason{Object: id, Because: s.waitsFor(id)})
		case o.Candidate(id):
			item, _, cause := s.item(id)
			switch Decide(item, Loop).Do {
			case Unresolvable, Nothing, Later: // one owner is solid, or nothing can be judged (P-21)
				rest = append(rest, ObjectReason{Object: id, Because: s.whyKept(id)})
			case Delete, RemoveOwnerRefs:
				cause.Code = NotDone
				rest = append(rest, ObjectReason{Object: id, Because: cause})
			}
		}
	}
	return rest
}
