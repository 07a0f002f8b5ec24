package unfinalize

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// maxTries is how often a write is tried against an object that changes all the time in what does not matter.
const maxTries = 10

// Options say how to perform.
type Options struct {
	Terms Terms
	// Selector, if not nil, is what the objects were found by. One that does not match it when it is about to be written to is left alone.
	Selector labels.Selector
	// KeepGoing goes on after what was refused or failed.
	KeepGoing bool
	// Settle is how long what is still there is looked at for somebody who puts a finalizer back; zero is SettleTime.
	Settle time.Duration
	// Tell is called with every write that the server has taken, one call at a time.
	Tell func(Done)
}

// SettleTime is how long is long enough for a controller that puts its finalizer back.
const SettleTime = time.Second

// Perform does what was judged, batch after batch and within one side by side, and looks after it: of each case one outcome, in their order.
// Everything is read live and judged again right before it is written to. It ends early at the first that cannot be done, unless told to keep going.
func Perform(ctx context.Context, client *cluster.Client, batches [][]*Case, opts Options) []*Outcome {
	p := &performer{client: client, opts: opts}
	var outcomes []*Outcome
	for _, batch := range batches {
		var group errgroup.Group
		group.SetLimit(client.Concurrency())
		for _, c := range batch {
			o := newOutcome(c)
			outcomes = append(outcomes, o)
			group.Go(func() error {
				switch {
				case ctx.Err() != nil:
					o.Err = context.Cause(ctx)
				case p.ended():
					o.Err = ErrNotReached
				default:
					if o.Err = p.perform(ctx, o); o.Err != nil {
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
	client *cluster.Client
	opts   Options

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

func (p *performer) done(o *Outcome, d Done) {
	p.told.Lock()
	defer p.told.Unlock()
	o.Done = append(o.Done, d)
	if p.opts.Tell != nil {
		p.opts.Tell(d)
	}
}

// errGone ends the work at an object that is no more, which is what was wanted.
var errGone = errors.New("it is gone")

// perform goes the ways of one case, each time from what the object is then, until there is none left. What the server refuses about an object that was
// not changed is its last word.
func (p *performer) perform(ctx context.Context, o *Outcome) error {
	var refused error
	var last string // the version that was refused, with the way
	for tries := 0; tries < maxTries; {
		err := p.reread(ctx, o.Case)
		if errors.Is(err, errGone) {
			o.Gone = true
			return nil
		}
		if err != nil {
			return err
		}
		if !Matches(p.opts.Selector, o.Case.Object) {
			return ErrNotSelected
		}
		way, verdicts := o.next()
		if len(verdicts) == 0 {
			return nil
		}
		version := o.Case.Object.GetResourceVersion() + string(way)
		if refused != nil && version == last {
			return refused
		}
		if err := against(verdicts, p.opts.Terms); err != nil {
			return err
		}
		switch refused, last = p.do(ctx, o, way, verdicts), version; {
		case errors.Is(refused, errGone):
			o.Gone = true
			return nil
		case refused == nil:
			for _, v := range verdicts {
				o.off[v.Held] = true
			}
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

// Matches says whether an object matches a selector. Every object matches nil.
func Matches(selector labels.Selector, o *unstructured.Unstructured) bool {
	return selector == nil || selector.Matches(labels.Set(o.GetLabels()))
}

// order is that of the ways: what is orphaned first, then what is patched, while the object is there for certain; another policy, and the spec of a
// namespace, may be what ends it.
var order = []Way{ByOrphaning, ByPatch, ByPolicy, ByDelete, ByFinalizing}

// next returns the next way to go and what it takes off. What came off before and is there again was put back; that is not fought.
func (o *Outcome) next() (Way, []Verdict) {
	for _, way := range order {
		verdicts := slices.DeleteFunc(o.Case.Goes(way), func(v Verdict) bool { return o.off[v.Held] })
		if len(verdicts) > 0 {
			return way, verdicts
		}
	}
	return "", nil
}

func (p *performer) do(ctx context.Context, o *Outcome, way Way, verdicts []Verdict) error {
	switch way {
	case ByOrphaning:
		return p.orphan(ctx, o)
	case ByPatch:
		return p.patch(ctx, o, verdicts)
	case ByFinalizing:
		return p.finalize(ctx, o, verdicts)
	}
	return p.deleteAgain(ctx, o, verdicts)
}

// against is the error of verdicts that the terms do not allow any more.
func against(verdicts []Verdict, t Terms) error {
	var refusals []Refusal
	for _, v := range verdicts {
		refusals = append(refusals, v.Against(t)...)
	}
	if len(refusals) == 0 {
		return nil
	}
	return &RefusedError{refusals}
}

// reread reads the object of a case live and judges it again. The error is errGone, ErrReplaced, or the server's.
func (p *performer) reread(ctx context.Context, c *Case) error {
	o, err := p.read(ctx, c)
	if err == nil {
		c.again(o)
	}
	return err
}

func (p *performer) read(ctx context.Context, c *Case) (*unstructured.Unstructured, error) {
	o, err := p.client.GetWhole(ctx, c.Type, c.Ref.Namespace, c.Ref.Name)
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
