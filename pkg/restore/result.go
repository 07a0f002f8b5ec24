package restore

import (
	"errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Event is a step that was tried, and what came of it.
type Event struct {
	plan.Event
	Step *Step
	// UID is that of the object now.
	UID string
	// Notes say what is not as the plan had it.
	Notes []string
}

// Result is what came of a plan.
type Result struct {
	Done   []Event
	Failed []Event
	// Unasked are the steps of a dry run that the server cannot be asked about, because what they
	// need is not there yet.
	Unasked []*Step
}

// ErrOwnerFailed is of a step whose owner was not restored.
var ErrOwnerFailed = errors.New("an owner was not restored")

// ErrNotSent is of a step that was not begun, because the command was interrupted or the archive
// could not be read again.
var ErrNotSent = errors.New("it was not begun")

// outcome is what came of a step: an Event, nothing as the server could not be asked, or nothing yet.
type outcome struct {
	*Event
	unasked bool
}

// done is the outcome of a step that the server has taken.
func (s *Step) done(uid string, notes ...string) outcome {
	o := s.failed(nil)
	o.UID, o.Notes = uid, notes
	return o
}

// failed is the outcome of a step that was not done.
func (s *Step) failed(err error) outcome {
	return outcome{Event: &Event{Step: s, Event: plan.Event{Action: plan.Write{Verb: s.Verb, Object: s.Object}, Err: err}}}
}

// isDone reports whether the server has taken the step.
func (o outcome) isDone() bool { return o.Event != nil && o.Err == nil }

func (r *performer) result() *Result {
	out := &Result{}
	for i, o := range r.results {
		s := &r.plan.Steps[i]
		switch {
		case o.isDone():
			out.Done = append(out.Done, *o.Event)
		case o.unasked:
			out.Unasked = append(out.Unasked, s)
		case o.Event == nil:
			o = s.failed(ErrNotSent)
			fallthrough
		default:
			out.Failed = append(out.Failed, *o.Event)
		}
	}
	return out
}
