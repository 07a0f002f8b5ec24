package collect

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

const (
	// mostFailures is how many failures a tally that keeps no events has at most, and mostTold how
	// many it remembers so as not to have them told twice.
	mostFailures = 20
	mostTold     = 1000
)

// Tally counts the writes of a run. It keeps them as events, unless the run may go on for months.
type Tally struct {
	// Events are all writes that were tried; none if the run watches.
	Events []Event
	// Passes is the last pass that has written, at least 1.
	Passes int
	keeps  bool
	counts map[plan.Verb]int
	begun  int
	// failed are the first failures of those that are not kept as events, and failures how many
	// there were.
	failed   []error
	failures int
	// told are the failures that were news, by uid.
	told map[string]string
}

func newTally(keeps bool) *Tally {
	return &Tally{keeps: keeps, counts: map[plan.Verb]int{}, Passes: 1, told: map[string]string{}}
}

// Add counts a write, and says whether it is news: it is not if the last write to the object failed
// with the same error.
func (t *Tally) Add(e Event) (news bool) {
	if t.keeps {
		t.Events = append(t.Events, e)
	}
	if e.Err != nil {
		return t.keeps || t.fail(e)
	}
	if e.Action.Verb == plan.VerbDelete && len(e.Action.RemainingFinalizers) > 0 {
		t.begun++
	} else {
		t.counts[e.Action.Verb]++
	}
	t.Passes = max(t.Passes, e.Action.Pass)
	return true
}

// fail remembers a failure, and says whether it is news. A write that nobody has answered is not
// counted: a run that watches looks at the object again when the server answers.
func (t *Tally) fail(e Event) (news bool) {
	err := Failure(e)
	if unanswered := errors.As(err, new(*url.Error)); !unanswered {
		t.failures++
		if len(t.failed) < mostFailures {
			t.failed = append(t.failed, err)
		}
	}
	uid, says := e.Action.Object.UID, err.Error()
	if t.told[uid] == says {
		return false
	}
	if len(t.told) >= mostTold {
		clear(t.told)
	}
	t.told[uid] = says
	return true
}

// Count is how many writes with a verb the server has taken; of deletes, those after which the
// object was gone.
func (t *Tally) Count(v plan.Verb) int { return t.counts[v] }

// Begun is how many deletes the server has taken of objects that finalizers keep.
func (t *Tally) Begun() int { return t.begun }

// Errors are what writes met; of a run that watches, the first of them and how many there are
// besides.
func (t *Tally) Errors() []error {
	if t.keeps {
		return Errors(t.Events)
	}
	if more := t.failures - len(t.failed); more > 0 {
		return append(t.failed, fmt.Errorf("%s failed", phrase.Count(more, "more write")))
	}
	return t.failed
}
