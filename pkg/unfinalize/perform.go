package unfinalize

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/archive"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// maxTries is how often a write is tried against an object that changes all the time in what does not matter.
const maxTries = 10

// Options say how to perform.
type Options struct {
	// KeepGoing goes on after what was refused or failed.
	KeepGoing bool
	// Settle is how long what is still there is looked at for somebody who puts a finalizer back; zero is SettleTime.
	Settle time.Duration
	// Before, if not nil, is called before every write with the object as it was read for it: the write
	// carries its resourceVersion. If it returns an error, that is what the outcome has, and nothing is
	// written.
	Before func(context.Context, *unstructured.Unstructured) error
	// OnAction, if not nil, is called with every write that the server has taken, one call at a time.
	OnAction func(Action)
}

// SettleTime is how long is long enough for a controller that puts its finalizer back.
const SettleTime = time.Second

// Perform does what is planned, batch after batch and within one side by side, and looks after it: of each object one outcome, in their order. Everything is
// read live and assessed again right before it is written to, and an object that no longer matches the selector of the plan is left alone. What the plan refuses
// is left alone too, and what an archive that was saved does not have as it is. With anything refused nothing is done, and it ends early at the first that cannot be done, unless told to keep going.
func Perform(ctx context.Context, client *cluster.Client, planned *Planned, opts Options) []*Outcome {
	p := &performer{client: client, opts: opts, overrides: planned.Overrides, selector: planned.selector, saved: planned.saved}
	p.stop = !opts.KeepGoing && len(planned.Refused()) > 0
	var outcomes []*Outcome
	for _, batch := range planned.Batches {
		var group errgroup.Group
		group.SetLimit(client.Concurrency())
		for _, c := range batch {
			o := newOutcome(c)
			outcomes = append(outcomes, o)
			group.Go(func() error {
				switch refused := c.against(p.overrides); {
				case len(refused) > 0:
					o.failed(&RefusedError{Refusals: refused, Planned: true})
				case ctx.Err() != nil:
					o.failed(context.Cause(ctx))
				case p.ended():
					o.failed(ErrNotReached)
				default:
					if err := p.perform(ctx, o); err != nil {
						o.failed(err)
						p.failed()
					}
				}
				return nil
			})
		}
		_ = group.Wait() // each error is in its place
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

	mu   sync.Mutex
	stop bool
	told sync.Mutex
}

func (p *performer) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stop
}

func (p *performer) failed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop = !p.opts.KeepGoing
}

func (p *performer) done(o *Outcome, a Action) {
	p.told.Lock()
	defer p.told.Unlock()
	o.Done = append(o.Done, a)
	if p.opts.OnAction != nil {
		p.opts.OnAction(a)
	}
}

// errGone ends the work at an object that is no more, which is what was wanted.
var errGone = errors.New("it is gone")

// perform does the actions of one candidate, each time those of what the object is then, until there is none left. What the server refuses about an object that was
// not changed is its last word.
func (p *performer) perform(ctx context.Context, o *Outcome) error {
	var refused error
	var last string // the version that was refused, with the method
	for tries := 0; tries < maxTries; {
		err := p.reread(ctx, o.Candidate)
		if errors.Is(err, errGone) {
			o.Gone = true
			return nil
		}
		if err != nil {
			return err
		}
		if !Matches(p.selector, o.Candidate.Object) {
			return ErrNotSelected
		}
		o.plan()
		if o.next == nil {
			return nil
		}
		a := *o.next
		version := o.Candidate.Object.GetResourceVersion() + string(a.method)
		if refused != nil && version == last {
			return refused
		}
		if err := against(a.assessments, p.overrides); err != nil {
			return err
		}
		if err := p.before(ctx, o.Candidate.Object); err != nil {
			return err
		}
		switch refused, last = p.do(ctx, o, a), version; {
		case errors.Is(refused, errGone):
			o.Gone = true
			return nil
		case refused == nil:
			for _, v := range a.assessments {
				o.off[v.FinalizerRef] = true
			}
			o.plan()
			if o.Gone {
				return nil
			}
		case !apierrors.IsConflict(refused) && !apierrors.IsInvalid(refused) && !apierrors.IsNotFound(refused):
			return refused
		default:
			tries++
		}
	}
	return ErrMoved
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

// Matches says whether an object matches a selector. Every object matches nil.
func Matches(selector labels.Selector, o *unstructured.Unstructured) bool {
	return selector == nil || selector.Matches(labels.Set(o.GetLabels()))
}

// plan finds the first action that is due. What was removed before and is there again was put back; that is not fought.
func (o *Outcome) plan() {
	o.next = nil
	if actions := o.Candidate.actions(o.off); len(actions) > 0 {
		o.next = &actions[0]
	}
}

// do does an action; those of an orphaning are done together.
func (p *performer) do(ctx context.Context, o *Outcome, a Action) error {
	switch a.method {
	case ByOrphaning:
		return p.orphan(ctx, o)
	case ByPatch:
		return p.patch(ctx, o, a)
	case ByFinalizing:
		return p.finalize(ctx, o, a)
	}
	return p.deleteAgain(ctx, o, a)
}

// against are the refusals of a candidate that the overrides do not cover.
func (c *Candidate) against(t Overrides) []Refusal {
	var refusals []Refusal
	for _, v := range c.Assessments {
		refusals = append(refusals, v.Against(t)...)
	}
	return refusals
}

// against is the error of assessments that the overrides do not cover any more.
func against(assessments []Assessment, t Overrides) error {
	var refusals []Refusal
	for _, v := range assessments {
		refusals = append(refusals, v.Against(t)...)
	}
	if len(refusals) == 0 {
		return nil
	}
	return &RefusedError{Refusals: refusals}
}

// reread reads the object of a candidate live and assesses it again. The error is errGone, ErrReplaced, or the server's.
func (p *performer) reread(ctx context.Context, c *Candidate) error {
	o, err := p.read(ctx, c)
	if err == nil {
		c.reassess(o)
	}
	return err
}

func (p *performer) read(ctx context.Context, c *Candidate) (*unstructured.Unstructured, error) {
	o, err := p.client.GetObject(ctx, c.Type, c.Ref.Namespace, c.Ref.Name)
	switch {
	case cluster.IsAbsent(err, c.Type, c.Ref.Name):
		return nil, errGone
	case err != nil:
		return nil, err
	case string(o.GetUID()) != c.Ref.UID:
		return nil, ErrReplaced
	}
	return o, nil
}
