package unfinalize

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Options say how to perform.
type Options struct {
	// KeepGoing goes on after what was refused or failed.
	KeepGoing bool
	// Settle is how long what is still there is looked at for somebody who puts a finalizer back;
	// zero is change.SettleTime.
	Settle time.Duration
	// Before, if not nil, is called before every write with the object as it was read for it: the
	// write carries its resourceVersion. If it returns an error, that is what the outcome has, and
	// nothing is written.
	Before func(context.Context, *unstructured.Unstructured) error
	// OnEvent, if not nil, is called with every write that was tried, one call at a time.
	OnEvent func(plan.Event)
}

// Perform does what is planned, batch after batch and within one side by side, and looks after it:
// of each object one outcome, in their order. Everything is read live and assessed again right
// before it is written to, and an object that no longer matches the selector of the plan is left
// alone. What the plan refuses is left alone too, and what an archive that was saved does not have
// as it is. With anything refused nothing is done, and it ends early at the first that cannot be
// done, unless told to keep going.
func Perform(ctx context.Context, client *cluster.Client, planned *Planned, opts Options) []*Outcome {
	p := &performer{client: client, opts: opts, overrides: planned.Overrides, selector: planned.selector,
		saved: planned.saved}
	p.stop.Store(!opts.KeepGoing && len(planned.Refused()) > 0)
	var outcomes []*Outcome
	for _, batch := range planned.Batches {
		first := len(outcomes)
		for _, c := range batch {
			outcomes = append(outcomes, newOutcome(c))
		}
		cluster.Each(client, outcomes[first:], func(_ int, o *Outcome) {
			switch refused := against(o.Candidate.Assessments, p.overrides); {
			case len(refused) > 0:
				p.failed(o, &RefusedError{Refusals: refused, Planned: true})
			case ctx.Err() != nil:
				p.failed(o, context.Cause(ctx))
			case p.stop.Load():
				p.failed(o, ErrNotReached)
			default:
				if err := p.perform(ctx, o); err != nil {
					p.failed(o, err)
					p.stop.Store(!opts.KeepGoing)
				}
			}
		})
	}
	p.lookAfter(ctx, outcomes)
	return outcomes
}

type performer struct {
	client    *cluster.Client
	opts      Options
	overrides Overrides
	selector  labels.Selector
	saved     *archive.Saved

	stop atomic.Bool
	told sync.Mutex
}

func (p *performer) done(o *Outcome, w plan.Write) {
	p.told.Lock()
	defer p.told.Unlock()
	o.Done = append(o.Done, w)
	if p.opts.OnEvent != nil {
		p.opts.OnEvent(plan.Event{Action: w})
	}
}

// failed notes why not all was done of a candidate, and tells of the write that failed.
func (p *performer) failed(o *Outcome, err error) {
	p.told.Lock()
	defer p.told.Unlock()
	if o.failed(err); o.Failed != nil && p.opts.OnEvent != nil {
		p.opts.OnEvent(plan.Event{Action: *o.Failed, Err: err})
	}
}

// perform does the actions of one candidate, each time those of what the object is then, until
// there is none left.
func (p *performer) perform(ctx context.Context, o *Outcome) error {
	c := o.Candidate
	for sent := true; sent && !o.Gone; {
		sent = false
		err := change.Write{
			Read: func(ctx context.Context) (string, error) {
				now, err := p.read(ctx, c)
				if err != nil {
					return "", err
				}
				c.reassess(now)
				return now.GetResourceVersion(), nil
			},
			Decide: func(ctx context.Context) (func(context.Context) error, error) {
				if !matches(p.selector, c.Object) {
					return nil, ErrNotSelected
				}
				if o.plan(); o.next == nil {
					return nil, nil
				}
				a := *o.next
				if refused := against(a.assessments, p.overrides); len(refused) > 0 {
					return nil, &RefusedError{Refusals: refused}
				}
				return func(ctx context.Context) error {
					err := p.do(ctx, o, a)
					sent = err == nil
					return err
				}, p.before(ctx, c.Object)
			},
		}.Do(ctx)
		switch {
		case errors.Is(err, change.ErrGone): // which is what was wanted
			o.Gone = true
		case err != nil:
			return err
		}
	}
	return nil
}

// before returns why nothing may be written because of an object as it is.
func (p *performer) before(ctx context.Context, o *unstructured.Unstructured) error {
	if p.saved != nil {
		if err := p.saved.Keeps(o); err != nil {
			return &RefusedError{Refusals: []Refusal{{Code: NotArchived, Because: err.Error() + "; name another --archive"}}}
		}
	}
	if p.opts.Before != nil {
		return p.opts.Before(ctx, o)
	}
	return nil
}

// matches reports whether an object matches a selector. Every object matches nil.
func matches(selector labels.Selector, o *unstructured.Unstructured) bool {
	return selector == nil || selector.Matches(labels.Set(o.GetLabels()))
}

// plan finds the first action that is due. What was removed before and is there again was put back;
// that is not fought.
func (o *Outcome) plan() {
	o.next = nil
	if actions := o.Candidate.actions(o.off); len(actions) > 0 {
		o.next = &actions[0]
	}
}

// do does an action; those of an orphaning are done together.
func (p *performer) do(ctx context.Context, o *Outcome, a action) error {
	var err error
	switch a.method {
	case ByOrphaning:
		err = p.orphan(ctx, o)
	case ByPatch:
		err = p.patch(ctx, o, a)
	case ByFinalizing:
		err = p.finalize(ctx, o, a)
	default:
		err = p.deleteAgain(ctx, o, a)
	}
	if err != nil {
		return err
	}
	for _, v := range a.assessments {
		o.off[v.FinalizerRef] = true
	}
	o.plan()
	return nil
}

// against are the refusals of assessments that the overrides do not cover.
func against(assessments []Assessment, t Overrides) []Refusal {
	var refusals []Refusal
	for _, v := range assessments {
		refusals = append(refusals, v.Against(t)...)
	}
	return refusals
}

// read reads the object of a candidate live. The error is change.ErrGone, change.ErrReplaced, or
// the server's.
func (p *performer) read(ctx context.Context, c *Candidate) (*unstructured.Unstructured, error) {
	return c.in(p.client).ReadContent(ctx)
}
