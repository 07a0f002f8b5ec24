package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Guarded is an object whose deletion the server refuses as long as another object, its guard, is there.
type Guarded struct {
	Object, Guard graph.ID
}

// noteGuards notes the guards that are there when an object is deleted. The client sends all its deletes at once, so that a guard that it deletes too may still be
// there.
func (s *simulation) noteGuards(id graph.ID, by By) {
	if s.options.Links == nil || s.silent {
		return
	}
	for _, f := range s.options.Links.Found(id) {
		if f.Definition.Deletion.Of != link.Guard || f.Dependent() == id {
			continue
		}
		g := Guarded{Object: id, Guard: f.Dependent()}
		there := !s.is(g.Guard, gone) || by == ByClient && s.Graph.Observed(g.Guard) && s.inStage(g.Guard) == s.inStage(id)
		if there && !slices.Contains(s.guarded, g) {
			s.guarded = append(s.guarded, g)
		}
	}
}
