package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// special says whether an object takes others along that have no reference to it: a definition its instances (API-060), a
// namespace its content (NS-011).
func (s *simulation) special(id graph.ID) bool {
	return isDefinition(s.Graph.Ref(id)) || isNamespace(s.Graph.Ref(id))
}

// IgnoresPolicy says whether a deletion of the object goes its own way whatever the propagation policy: definitions do (API-060).
func IgnoresPolicy(r graph.Ref) bool { return isDefinition(r) }

func isDefinition(r graph.Ref) bool {
	return r.Resource == "customresourcedefinitions" && r.Group() == "apiextensions.k8s.io"
}

func isNamespace(r graph.Ref) bool { return r.Resource == "namespaces" && r.Group() == "" }

func isPod(r graph.Ref) bool { return r.Resource == "pods" && r.Group() == "" }

// cleanUp is one round of the controller that empties a definition or a namespace; nil if there is nothing to do but wait.
func (s *simulation) cleanUp(id graph.ID) func() {
	if isNamespace(s.Graph.Ref(id)) {
		return s.emptyNamespace(id)
	}
	left := s.left(s.instances(id), func(graph.ID) bool { return true })
	if len(left) == 0 {
		return func() { s.clear(id, cleanup) }
	}
	cause := Reason{Code: Definition, Cause: id, HasCause: true}
	return func() {
		for _, instance := range left {
			s.containers[instance] = id
			if !s.is(instance, deleting|gone) {
				s.delete(instance, s.ownPolicy(instance), ByController, cause) // with no policy at all (API-060), so its own finalizers count
			}
			s.settle(instance) // it may be held by somebody already
		}
	}
}

func (s *simulation) ownPolicy(id graph.ID) Policy {
	return Item{Orphan: s.is(id, orphan), Foreground: s.is(id, foreground)}.ownPolicy()
}

func (s *simulation) instances(id graph.ID) []graph.ID {
	if s.options.Links == nil {
		return nil
	}
	var instances []graph.ID
	for _, l := range s.options.Links(id) {
		instances = append(instances, l.Dependent)
	}
	return instances
}

// Instances returns the instances of a definition that the plan knows of; none for any other object.
func (p *Plan) Instances(id graph.ID) []graph.ID {
	if !isDefinition(p.Graph.Ref(id)) {
		return nil
	}
	return (&simulation{options: p.options}).instances(id)
}

// left returns those of the objects that still exist and match.
func (s *simulation) left(objects []graph.ID, matches func(graph.ID) bool) []graph.ID {
	var left []graph.ID
	for _, id := range objects {
		if !s.is(id, gone) && matches(id) {
			left = append(left, id)
		}
	}
	return left
}

// emptyNamespace deletes the pods and, when none is left, everything else in the background, whatever was being done to it
// (NS-013, NS-014); and finalizes the namespace when it is empty.
func (s *simulation) emptyNamespace(id graph.ID) func() {
	content := slices.Collect(s.Graph.InNamespace(s.Graph.Ref(id).Name))
	left := s.left(content, func(o graph.ID) bool { return isPod(s.Graph.Ref(o)) })
	if len(left) == 0 {
		left = s.left(content, func(graph.ID) bool { return true })
	}
	if len(left) == 0 {
		return func() {
			s.act(Action{Verb: VerbFinalizeNamespace, Object: id, By: ByController, Because: Reason{Code: ContentGone}})
			s.clear(id, cleanup)
		}
	}
	cause := Reason{Code: Content, Cause: id, HasCause: true}
	return func() {
		for _, o := range left {
			s.containers[o] = id
			if !s.is(o, gone) && (!s.is(o, deleting) || s.is(o, orphan|foreground)) {
				s.delete(o, Background, ByController, cause)
			}
			s.settle(o)
		}
	}
}
