package collect

import (
	"context"
	"errors"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Outcome is what came of a run.
type Outcome struct {
	// Graph is the last listing, Gaps what it could not see, and Unread what could not be read live; see Result.
	Graph        *graph.Graph
	Gaps, Unread []v1alpha1.Gap
	// NotDeleted are the objects that are left, and why.
	NotDeleted []plan.ObjectReason
	// Idle says that there was nothing to do, so that nobody was asked.
	Idle bool
	// Tally counts what was done.
	Tally *Tally
	// WaitedFor are the objects that were waited for until the time was up.
	WaitedFor []graph.Ref
}

// AllGaps are those of the listing and those of live reads.
func (o *Outcome) AllGaps() []v1alpha1.Gap { return slices.Concat(o.Gaps, o.Unread) }

// Perform has the plan agreed to, writes the archive and does what it says, until nothing is left to do, or for longer as the Request says. The error joins what single writes met,
// what could not be listed or read, and what ended the run early. The Outcome is nil if the plan was refused or not agreed
// to, and nothing was written then, or if the server did not answer the last listing.
func (p *Planned) Perform(ctx context.Context) (*Outcome, error) {
	if !p.nothingToDo() {
		if err := p.Refused(); err != nil {
			return nil, err
		}
		if p.request.Agree != nil {
			if err := p.request.Agree(ctx, p.Proposal); err != nil {
				return nil, err
			}
		}
	} else if p.request.Warned == nil || !p.loop.crossNamespaceRefs(p.Graph) { // events are asked for as such; there is no plan to agree to
		return &Outcome{Graph: p.Graph, Gaps: p.Gaps, Unread: p.Unread, NotDeleted: p.NotDeleted(), Idle: true, Tally: p.tally}, p.Incomplete()
	}
	if err := p.save(ctx); err != nil {
		return nil, err
	}
	p.loop.Agreed(p.Plan)
	last, err := p.perform(ctx)
	errs := p.tally.Errors()
	if last == nil {
		return nil, errors.Join(append(errs, p.ended(ctx, err))...)
	}
	out := &Outcome{Graph: last.Graph, Gaps: last.Gaps, Unread: last.Unread, NotDeleted: last.NotDeleted, Tally: p.tally}
	if timedOut(ctx, err) {
		for _, o := range pending(last.NotDeleted) {
			out.WaitedFor = append(out.WaitedFor, last.Graph.Ref(o.Object))
		}
	}
	return out, errors.Join(append(errs, p.leftAloneError(), Incomplete(out.Gaps, out.Unread), p.ended(ctx, err))...)
}

// perform runs the loop to its end, and goes on if others are waited for or changes are watched.
func (p *Planned) perform(ctx context.Context) (*Result, error) {
	switch r := p.request; {
	case r.Watch:
		return p.loop.Watch(ctx, nil)
	case r.Wait:
		if r.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, r.Timeout)
			defer cancel()
		}
		return p.loop.Watch(ctx, func(s *Result) bool { return len(pending(s.NotDeleted)) == 0 })
	}
	return p.loop.Run(ctx)
}

// pending are the objects that are being deleted and that somebody else has to release.
func pending(left []plan.ObjectReason) []plan.ObjectReason {
	var list []plan.ObjectReason
	for _, l := range left {
		if l.Because.Code == plan.ForeignFinalizers || l.Because.Code == plan.DependentsBlock {
			list = append(list, l)
		}
	}
	return list
}

// timedOut says whether a run was ended by its own time-out and not by its context.
func timedOut(ctx context.Context, err error) bool {
	return errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
}
