package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// special says whether an object takes others along that have no reference to it.
func (s *simulation) special(id graph.ID) bool {
	_, is := link.Of(s.Graph.Ref(id))
	return is
}

// IgnoresPolicy says whether a deletion of the object goes its own way whatever the propagation policy: CRDs do (API-060).
func IgnoresPolicy(r graph.Ref) bool {
	rule, _ := link.Of(r)
	return rule.IgnoresPolicy
}

// cleanUp is one round of the controller that deletes what goes with an object by a link.
func (s *simulation) cleanUp(id graph.ID) func() {
	rule, _ := link.Of(s.Graph.Ref(id))
	content := s.content(id, rule)
	var left []graph.ID
	if rule.First != nil {
		left = s.existing(content, func(o graph.ID) bool { return rule.First(s.Graph.Ref(o)) })
	}
	if len(left) == 0 {
		left = s.existing(content, func(graph.ID) bool { return true })
	}
	if len(left) == 0 {
		return func() {
			if rule.Finalizes {
				s.act(Action{Verb: VerbFinalizeNamespace, Object: id, By: ByController, Because: Reason{Code: ContentGone}})
			}
			s.clear(id, cleanup)
		}
	}
	cause := Reason{Code: ReasonCode(rule.Reason), Cause: id, HasCause: true}
	return func() {
		for _, o := range left {
			s.containers[o] = id
			switch {
			case s.is(o, gone):
			case rule.Background && (!s.is(o, deleting) || s.is(o, orphan|foreground)):
				s.delete(o, Background, ByController, cause)
			case !rule.Background && !s.is(o, deleting):
				s.delete(o, s.ownPolicy(o), ByController, cause) // with no policy at all (API-060), so its own finalizers count
			}
			s.settle(o) // it may be kept by somebody already
		}
	}
}

func (s *simulation) ownPolicy(id graph.ID) Policy {
	return Item{Orphan: s.is(id, orphan), Foreground: s.is(id, foreground)}.ownPolicy()
}

// content are the objects that go with another by a rule, as far as the links of the options tell of them.
func (s *simulation) content(id graph.ID, rule link.Rule) []graph.ID {
	if rule.Inside != nil {
		return slices.Collect(rule.Inside(s.Graph, s.Graph.Ref(id)))
	}
	if s.options.Links == nil {
		return nil
	}
	var content []graph.ID
	for _, l := range s.options.Links(id) {
		content = append(content, l.Dependent)
	}
	return content
}

// Instances returns the instances of a CRD that the plan knows of; none for any other object.
func (p *Plan) Instances(id graph.ID) []graph.ID {
	rule, _ := link.Of(p.Graph.Ref(id))
	if rule.Name != link.CRD {
		return nil
	}
	return (&simulation{Projection: p.end, options: p.options}).content(id, rule)
}

// existing returns those of the objects that still exist and match.
func (s *simulation) existing(objects []graph.ID, matches func(graph.ID) bool) []graph.ID {
	var left []graph.ID
	for _, id := range objects {
		if !s.is(id, gone) && matches(id) {
			left = append(left, id)
		}
	}
	return left
}
