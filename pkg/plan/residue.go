package plan

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// Residue returns what a loop has left when it came to its end, of what it may write to, and why: what is being deleted and waits for somebody else, and
// what it could not judge.
func (o *Overlay) Residue(may func(graph.ID) bool) []Survivor {
	s := &simulation{Overlay: o, options: Options{Rules: Loop}}
	var left []Survivor
	for i := range o.Graph.Len() {
		id := graph.ID(i)
		switch {
		case !o.Graph.Seen(id) || o.Gone(id) || may != nil && !may(id):
		case o.Deleting(id):
			left = append(left, Survivor{Object: id, Because: s.waitsFor(id)})
		case o.Candidate(id):
			item, _, cause := s.item(id)
			switch Decide(item, Loop).Do {
			case Frozen, Nothing, Later: // one owner is solid, or nothing can be judged (P-21)
				left = append(left, Survivor{Object: id, Because: s.keeps(id)})
			case Delete, Strip:
				cause.Code = NotDone
				left = append(left, Survivor{Object: id, Because: cause})
			}
		}
	}
	return left
}
