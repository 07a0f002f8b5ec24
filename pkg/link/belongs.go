package link

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// Belonging returns a function that says what belongs to some objects: they themselves, what lies
// inside them, what they own by ownerReferences, what confirmed links tie to them, and what belongs
// to that in turn. Whoever may act on the objects may act on that because of them, and on nothing
// to which an unconfirmed link alone leads. It is nil if there are no unconfirmed links, so that
// everything belongs to the objects that a deletion of them reaches.
func (l *Links) Belonging(objects []graph.ID) func(graph.ID) bool {
	if !l.anyUnconfirmed() {
		return nil
	}
	belongs := make([]bool, l.g.Len())
	queue := append([]graph.ID{}, objects...)
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if belongs[id] {
			continue
		}
		belongs[id] = true
		for e := range l.g.Dependents(id) {
			queue = append(queue, e.Dependent)
		}
		queue = append(queue, l.Content(id)...)
		for _, f := range l.found[id] {
			if f.Confirmed {
				queue = append(queue, f.Dependent())
			}
		}
	}
	return func(id graph.ID) bool { return belongs[id] }
}

func (l *Links) anyUnconfirmed() bool {
	for _, found := range l.found {
		for _, f := range found {
			if !f.Confirmed {
				return true
			}
		}
	}
	return false
}
