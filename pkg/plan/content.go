package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// company are objects that a controller deletes alike because another one is being deleted, though
// no ownerReference says so: the content of a namespace, the instances of a CRD, or what a program
// finds by a link that one of the two names.
type company struct {
	objects []graph.ID
	because Reason
	// policy is that of their deletion; false if the deletion of one has begun and stays as it is.
	policy func(graph.ID) (Policy, bool)
}

// accompany is one round of the controller: it deletes them, and looks again when one of them is
// gone.
func (s *simulation) accompany(id graph.ID, c company) {
	for _, o := range c.objects {
		isNew := s.await(id, o)
		if s.is(o, gone) {
			s.Enqueue(id) // it went in the same wave
			continue
		}
		if policy, sends := c.policy(o); sends {
			s.delete(o, policy, ByController, c.because)
		}
		if isNew {
			s.settle(o) // it may be kept by somebody already
		}
	}
}

// await notes that an object is to be looked at when another one is gone. It is false if that was
// noted before.
func (s *simulation) await(id, o graph.ID) bool {
	if s.awaits(id, o) {
		return false
	}
	if _, taken := s.containers[o]; !taken {
		s.containers[o] = id
		return true
	}
	if s.moreContainers == nil {
		s.moreContainers = map[graph.ID][]graph.ID{}
	}
	s.moreContainers[o] = append(s.moreContainers[o], id)
	return true
}

func (s *simulation) awaits(id, o graph.ID) bool {
	first, taken := s.containers[o]
	return taken && (first == id || slices.Contains(s.moreContainers[o], id))
}

// special reports whether an object takes others along by a rule.
func special(g *graph.Graph, id graph.ID) bool {
	_, is := link.Of(g.Ref(id))
	return is
}

// IgnoresPolicy reports whether a deletion of the object goes its own way whatever the propagation
// policy: CRDs do (API-060).
func IgnoresPolicy(r graph.Ref) bool {
	rule, _ := link.Of(r)
	return rule.IgnoresPolicy
}

// cleanUp is one round of the controller that deletes what goes with an object by a rule.
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
	if _, held := s.options.held[id]; held && rule.Finalizes && len(left) == 0 {
		return nil // the namespace controller cannot know that nothing is left (NS-012)
	}
	if len(left) == 0 {
		return func() {
			if rule.Finalizes {
				s.act(Action{Verb: VerbFinalizeNamespace, Object: id, By: ByController, Because: Reason{Code: ContentGone}})
			}
			s.clear(id, cleanup)
		}
	}
	policy := s.contentPolicy
	if rule.Background {
		policy = s.backgroundPolicy
	}
	if rule.Finalizes && len(s.options.protected) > 0 {
		policy = s.reachedPolicy(left, policy)
	}
	return func() {
		s.accompany(id, company{left, Reason{Code: ReasonCode(rule.Reason), Cause: id, HasCause: true}, policy})
	}
}

// backgroundPolicy deletes in the background, and once more what waits for its dependents or
// orphans them.
func (s *simulation) backgroundPolicy(id graph.ID) (Policy, bool) {
	return Background, !s.is(id, deleting) || s.is(id, orphan|foreground)
}

// contentPolicy is none at all, so that an object's own finalizers count (API-060), and once.
func (s *simulation) contentPolicy(id graph.ID) (Policy, bool) {
	return s.ownPolicy(id), !s.is(id, deleting)
}

// reachedPolicy is a policy for what the controller of namespaces comes to. It deletes the objects
// of a type with one request, which goes through them in the order of their names and ends at the
// first that is refused, each time that it is sent (NS-014; Store.DeleteCollection of the API
// server, with its one worker).
func (s *simulation) reachedPolicy(content []graph.ID,
	policy func(graph.ID) (Policy, bool)) func(graph.ID) (Policy, bool) {
	first := map[graph.Type]graph.ID{}
	for _, id := range content {
		t, _ := s.Graph.Type(id)
		known, found := first[t]
		if _, refused := s.options.protected[id]; refused && (!found || s.Graph.Name(id) < s.Graph.Name(known)) {
			first[t] = id
		}
	}
	return func(id graph.ID) (Policy, bool) {
		t, _ := s.Graph.Type(id)
		if refused, found := first[t]; found && s.Graph.Name(id) > s.Graph.Name(refused) {
			s.unreached[id] = refused
			s.touch(id)
			return "", false
		}
		return policy(id)
	}
}

func (s *simulation) ownPolicy(id graph.ID) Policy {
	return Item{Orphan: s.is(id, orphan), Foreground: s.is(id, foreground)}.ownPolicy()
}

// content are the objects that go with another by a rule, as far as the links of the options tell
// of them.
func (s *simulation) content(id graph.ID, rule link.Rule) []graph.ID {
	if rule.Inside != nil {
		return slices.Collect(rule.Inside(s.Graph, s.Graph.Ref(id)))
	}
	return s.options.Links.Content(id)
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
