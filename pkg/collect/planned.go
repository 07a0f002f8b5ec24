package collect

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/answer"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Planned is a run that was planned and not performed. It is not safe for concurrent use.
type Planned struct {
	*Proposal
	request Request
	loop    *Loop
	tally   *Tally
	// leftAlone are objects that the plan has come to write to since the archive was written.
	leftAlone []graph.Ref
}

// Plan plans a run from a listing and live reads, and writes nothing. It refuses to take a kind for
// unserved of which anything says that it may still be served, and a namespace that does not exist.
func Plan(ctx context.Context, client *cluster.Client, r Request) (*Planned, error) {
	catalog, err := client.Discover(ctx)
	if err != nil {
		return nil, err
	}
	filter, err := selection.ParseTypeFilter(r.Types, nil, catalog)
	if err != nil {
		return nil, err
	}
	p := &Planned{request: r, tally: newTally(!r.Watch)}
	opts := r.options(filter.Shows(catalog))
	opts.OnEvent = func(e plan.Event) {
		if news := p.tally.Add(e); news && r.OnEvent != nil {
			r.OnEvent(e)
		}
	}
	reader := cluster.NewReader(client, catalog)
	opts.Agree = func(ctx context.Context, proposal *Proposal) error {
		ReadDisks(ctx, reader, proposal.Plan, &proposal.Plan.Facts)
		return p.agree(ctx, proposal)
	}
	p.loop = New(client, opts)
	// Planning to the end of the cascade knows no context and may take long.
	p.Proposal, err = interrupt.Do(ctx, func() (*Proposal, error) { return p.loop.Propose(ctx) })
	if err != nil {
		return nil, err
	}
	if err := selection.NamespaceExists(ctx, client, catalog, p.Graph, r.Namespace); err != nil {
		return nil, err
	}
	if err := checkUnserved(p.Snapshot, r.Overrides); err != nil {
		return nil, err
	}
	ReadDisks(ctx, reader, p.Plan, &p.Plan.Facts)
	return p, context.Cause(ctx)
}

// Run plans a run, has it agreed to by Request.Agree and performs it. See Plan and Planned.Perform.
func Run(ctx context.Context, client *cluster.Client, r Request) (*Outcome, error) {
	p, err := Plan(ctx, client, r)
	if err != nil {
		return nil, err
	}
	return p.Perform(ctx)
}

// Refused returns the refusal with which Perform would end before its first write; nil if it would
// not.
func (p *Planned) Refused() error { return refusal(p.loop.Check(p.Proposal)) }

// crossNamespaceRefs reports whether an object that may be written to has a reference to an owner
// in another namespace.
func (l *Loop) crossNamespaceRefs(g *graph.Graph) bool {
	for id := range g.IDs() {
		for e := range g.Owners(id) {
			if CrossNamespaceRef(g, e) && l.allows(g, id) {
				return true
			}
		}
	}
	return false
}

// UnreadError is the finding that objects could not be read live.
func UnreadError(unread []v1alpha1.Gap) error {
	if len(unread) == 0 {
		return nil
	}
	return answer.Refuse(
		fmt.Errorf("incomplete: %s%s; objects that could not be read are kept, and so are their dependents",
			phrase.Shorten(unread[0].Message), phrase.More(" (and %d more)", len(unread)-1)))
}

// Outcome is what came of a run.
type Outcome struct {
	Listing // the last
	// NotDeleted are the objects that are left, and why.
	NotDeleted []plan.ObjectReason
	// Idle says that there was nothing to do, so that nobody was asked.
	Idle bool
	// Tally counts what was done.
	Tally *Tally
	// WaitedFor are the objects that were waited for until the time was up.
	WaitedFor []graph.Ref
}

// Perform has the plan agreed to, writes the archive and does what it says, until nothing is left
// to do, or for longer as the Request says. The error joins what single writes met, what could not
// be listed or read, and what ended the run early. The Outcome is nil if the plan was refused or
// not agreed to, and nothing was written then, or if the server did not answer the last listing.
func (p *Planned) Perform(ctx context.Context) (*Outcome, error) {
	if len(p.Plan.Actions) > 0 || p.request.Watch || p.request.Wait && len(pending(p.NotDeleted())) > 0 {
		if err := p.Refused(); err != nil {
			return nil, err
		}
		if p.request.Agree != nil {
			if err := p.request.Agree(ctx, p.Proposal); err != nil {
				return nil, err
			}
		}
	} else if p.request.Warned == nil || !p.loop.crossNamespaceRefs(p.Graph) {
		// events are asked for as such; there is no plan to agree to
		return &Outcome{Listing: p.Listing, NotDeleted: p.NotDeleted(), Idle: true, Tally: p.tally}, p.Incomplete()
	}
	if err := p.save(ctx); err != nil {
		return nil, err
	}
	p.loop.Agreed(p.Plan)
	last, timedOut, err := p.perform(ctx)
	errs := p.tally.Errors()
	out := &Outcome{Tally: p.tally}
	switch {
	case last != nil:
		out.Listing, out.NotDeleted = last.Listing, last.NotDeleted
	case timedOut: // before a listing has ended: that of the plan is the last
		out.Listing, out.NotDeleted = p.Listing, p.NotDeleted()
	default:
		return nil, errors.Join(append(errs, p.ended(ctx, err))...)
	}
	if timedOut {
		out.WaitedFor = out.Graph.Refs(plan.Objects(pending(out.NotDeleted)))
		err = p.timeUp(last != nil && len(out.WaitedFor) > 0)
	} else {
		err = p.ended(ctx, err)
	}
	return out, errors.Join(append(errs, p.leftAloneError(), out.Incomplete(), err)...)
}

// perform runs the loop to its end, and goes on if others are waited for or changes are watched.
// TimedOut says that Request.Timeout has ended it.
func (p *Planned) perform(ctx context.Context) (last *Result, timedOut bool, err error) {
	switch r := p.request; {
	case r.Watch:
		last, err = p.loop.Watch(ctx, nil)
		return last, false, err
	case r.Wait:
		waiting := ctx
		if r.Timeout > 0 {
			var cancel context.CancelFunc
			waiting, cancel = context.WithTimeout(ctx, r.Timeout)
			defer cancel()
		}
		last, err = p.loop.Watch(waiting, func(s *Result) bool { return len(pending(s.NotDeleted)) == 0 })
		return last, err != nil && waiting.Err() != nil && ctx.Err() == nil, err
	}
	last, err = p.loop.Run(ctx)
	return last, false, err
}

// pending are the objects that are being deleted and that somebody else has to release.
func pending(left []plan.ObjectReason) []plan.ObjectReason {
	return slices.DeleteFunc(slices.Clone(left), func(l plan.ObjectReason) bool {
		return l.Because.Code != plan.ForeignFinalizers && l.Because.Code != plan.DependentsBlock
	})
}

// Printed is what came of a run as the Result that -o json prints. Because says why an object is
// left.
func (o *Outcome) Printed(because func(plan.ObjectReason) string) *v1alpha1.Result {
	out := v1alpha1.NewResult(slices.Concat(o.Gaps, o.Unread))
	Add(out, o.Tally.Events)
	for _, l := range o.NotDeleted {
		left := v1alpha1.SkippedObject{Object: o.Graph.Ref(l.Object), Because: because(l)}
		if l.Because.Code == plan.OwnerUnresolved {
			out.Skipped = append(out.Skipped, left)
		} else {
			out.Remaining = append(out.Remaining, left)
		}
	}
	return out
}

// Add adds what the loop did to a Result.
func Add(out *v1alpha1.Result, events []plan.Event) {
	for _, e := range events {
		out.Add(e.Action.Printed(plan.ByCollector), e.Err)
	}
}

const (
	// mostFailures is how many failures a tally that keeps no events has at most, and mostTold how
	// many it remembers so as not to have them told twice.
	mostFailures = 20
	mostTold     = 1000
)

// Tally counts the writes of a run. It keeps them as events, unless the run may go on for months.
type Tally struct {
	// Events are all writes that were tried; none if the run watches.
	Events []plan.Event
	// Passes is the last pass that has written, at least 1.
	Passes int
	keeps  bool
	counts map[plan.Verb]int
	begun  int
	// unanswered are the writes to which no answer came.
	unanswered int
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

// Add counts a write, and reports whether it is news: it is not if the last write to the object
// failed with the same error.
func (t *Tally) Add(e plan.Event) (news bool) {
	if t.keeps {
		t.Events = append(t.Events, e)
	}
	if e.Err != nil {
		unanswered := errors.As(Failure(e), new(*url.Error))
		if unanswered {
			t.unanswered++
		}
		return t.keeps || t.fail(e, unanswered)
	}
	if e.Action.Verb == plan.VerbDelete && len(e.Action.RemainingFinalizers) > 0 {
		t.begun++
	} else {
		t.counts[e.Action.Verb]++
	}
	t.Passes = max(t.Passes, e.Action.Pass)
	return true
}

// fail remembers a failure, and reports whether it is news. A write that nobody has answered is not
// counted: a run that watches looks at the object again when the server answers.
func (t *Tally) fail(e plan.Event, unanswered bool) (news bool) {
	err := Failure(e)
	if !unanswered {
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

// Unanswered is to how many writes no answer came. The server may have taken them.
func (t *Tally) Unanswered() int { return t.unanswered }

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
