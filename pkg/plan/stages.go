package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Stage is a part of an ordered deletion. It begins when all is gone that the stages before it
// delete.
type Stage struct {
	// Objects are those whose deletes the client sends, in their order.
	Objects []graph.ID
	// Deleted are all that are gone with the stage, sorted.
	Deleted []graph.ID
}

// Stages are those of an ordered deletion, as far as they begin; none of any other.
func (p *Plan) Stages() []Stage {
	if p.staged == nil {
		return nil
	}
	stages := make([]Stage, p.staged.stage)
	for _, a := range p.Actions {
		if a.Verb == VerbDelete && a.By == ByClient {
			stages[a.Stage-1].Objects = append(stages[a.Stage-1].Objects, a.Object)
		}
	}
	for _, id := range p.Deleted {
		in := p.staged.goneIn[id]
		stages[in-1].Deleted = append(stages[in-1].Deleted, id)
	}
	return stages
}

// FirstStage plans the first stage of an ordered deletion alone.
func (p *Plan) FirstStage() *Plan {
	opts := p.options
	opts.stages = nil
	return New(p.Graph, p.Stages()[0].Objects, p.Policy, opts)
}

// staging is how far an ordered deletion has come.
type staging struct {
	start start
	named map[graph.ID]bool
	// sending says that the deletes of a stage are being sent.
	sending bool
	// stage is the one that runs, from 1, and later are those after it.
	stage int
	later [][]graph.ID
	// begunIn and goneIn are the stages in which objects began to be deleted, and were gone.
	begunIn, goneIn map[graph.ID]int
}

func newStaging(b start) *staging {
	return &staging{start: b, named: graph.SetOf(b.roots), later: b.stages[1:], begunIn: map[graph.ID]int{},
		goneIn: map[graph.ID]int{}}
}

// begin sends the deletes of the next stage.
func (st *staging) begin(s *simulation, objects []graph.ID) {
	st.stage++
	st.sending = true
	st.start.send(s, objects)
	st.sending = false
}

// requested is why the client deletes an object: it was named, or it has to be gone before the next
// stage.
func (s *simulation) requested(id graph.ID) Reason {
	if s.staged != nil && !s.staged.named[id] {
		return Reason{Code: Ordered}
	}
	return Reason{Code: Requested}
}

// nextStage begins the next stage in which there is something to do, if all is gone that was
// deleted before.
func (s *simulation) nextStage() bool {
	if s.staged == nil || s.staged.sending || len(s.staged.later) == 0 {
		return false
	}
	if _, waits := s.unfinished(); waits {
		return false
	}
	for len(s.staged.later) > 0 && !s.hasWork() {
		objects := s.existing(s.staged.later[0], func(graph.ID) bool { return true })
		s.staged.later = s.staged.later[1:]
		if len(objects) > 0 {
			s.wave++
			s.staged.begin(s, objects)
		}
	}
	return s.hasWork()
}

// unfinished is the first object that is being deleted and not gone.
func (s *simulation) unfinished() (graph.ID, bool) {
	left := s.pick(func(id graph.ID) bool { return s.is(id, deleting) && !s.is(id, gone) })
	if len(left) == 0 {
		return 0, false
	}
	return left[0], true
}

// waitsForStage says what keeps the stage from beginning that would delete an object.
func (s *simulation) waitsForStage() (Reason, bool) {
	if s.staged == nil || len(s.staged.later) == 0 {
		return Reason{}, false
	}
	id, ok := s.unfinished()
	return Reason{Code: EarlierStage, Cause: id, HasCause: ok}, ok
}

// inStage says in which stage an object began to be deleted; 0 of a deletion that has none.
func (s *simulation) inStage(id graph.ID) int {
	if s.staged == nil {
		return 0
	}
	return s.staged.begunIn[id]
}
