package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Guarded is an object whose deletion the server refuses as long as another object, its guard, is
// there.
type Guarded struct {
	Object, Guard graph.ID
	// RepeatedBy is the program that deletes the object once the guard is gone, because somebody
	// tried to before; empty if none does.
	RepeatedBy string
}

// IsGuarded says whether the server refuses the deletion of an object because of a guard that is
// still there when it is sent.
func (p *Plan) IsGuarded(id graph.ID) bool {
	return slices.ContainsFunc(p.Guarded, func(g Guarded) bool { return g.Object == id })
}

// noteGuards notes the guards that are there when an object is deleted. The client sends all its
// deletes at once, so that a guard that it deletes too may still be there. One whose program
// repeats a deletion that it has refused is gone by then.
func (s *simulation) noteGuards(id graph.ID, by By, because Reason) {
	if s.options.Links == nil || s.silent {
		return
	}
	for _, f := range s.options.Links.Found(id) {
		if f.Definition.Deletion.Of != link.Guard || f.Dependent() == id {
			continue
		}
		if because.Code == LinkDeleted && because.Cause == f.Dependent() {
			continue
		}
		g := Guarded{Object: id, Guard: f.Dependent(), RepeatedBy: s.repeats(f.Dependent(), id)}
		there := !s.is(g.Guard, gone) || by == ByClient && s.Graph.Observed(g.Guard) && s.inStage(g.Guard) == s.inStage(id)
		if there && !slices.Contains(s.guarded, g) {
			s.guarded = append(s.guarded, g)
		}
	}
}

// repeats returns the program that deletes an object when its guard is deleted.
func (s *simulation) repeats(guard, object graph.ID) string {
	for _, f := range s.options.Links.Found(guard) {
		if f.Dependent() == object && f.Deletes() {
			return f.Definition.Deletion.By
		}
	}
	return ""
}
