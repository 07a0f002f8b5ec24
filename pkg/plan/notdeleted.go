package plan

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// NotDeleted returns the objects that a loop may write to and has not deleted when it came to its
// end, and why: those that are terminating and wait for somebody else, and those of which it could
// not resolve an owner.
func (o *Projection) NotDeleted(may func(graph.ID) bool) []ObjectReason {
	s := &simulation{Projection: o, options: Options{Rules: Loop}}
	var rest []ObjectReason
	for i := range o.Graph.Len() {
		id := graph.ID(i)
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
