package act

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Options say how to carry out a plan.
type Options struct {
	// GracePeriodSeconds, if not nil, goes with the requested deletes.
	GracePeriodSeconds *int64
	// PropagateGracePeriod gives it to the dependents too, as far as that can be done once the
	// collector has deleted them: a grace period can be shortened only (API-018).
	PropagateGracePeriod bool
	// Archived, if not nil, is asked before each delete whether nothing is lost with this version
	// of the object that is not in the archive; the delete carries it as a precondition. An error
	// leaves the object alone. It is called from several goroutines.
	Archived func(ctx context.Context, t graph.Type, object graph.Ref, resourceVersion string) error
	// ResumePoints are where the listing ended on which the plan rests; the wait begins there.
	ResumePoints []cluster.ResumePoint
	// Wait for the whole cascade, until the context ends.
	Wait bool
	// PollInterval is how often what may not be watched is listed or read in the wait; 0 means 2
	// seconds.
	PollInterval time.Duration
	// OnEvent is called with each event, and Tick every second with what is left; one call at a
	// time, and none while Replan is called. Either may be nil.
	OnEvent func(Event)
	Tick    func(Progress)
	// OnWrite is called with each write that was tried, when it is known what came of it, and with
	// the error if it was not carried out; one call at a time. It may be nil, and is not called for
	// writes of Collect.
	OnWrite func(g *graph.Graph, a plan.Action, err error)
	// Collect, if not nil, does the collector's part in place of the cluster's. It is called when
	// the requested deletes were sent, and again when something of the cascade has changed, until
	// the cascade is gone; it returns when there is nothing left that it can do.
	Collect func(ctx context.Context, sent []Done) error
	// Replan, if not nil, is asked for a new plan of the roots that are not what the plan was
	// about. Those that it leaves out are gone, or it says why. An error leaves all of them alone.
	Replan func(ctx context.Context, roots []graph.Ref) (Replanned, error)
	// Meant, if not nil, reports whether a root that was changed after it was planned is still one
	// of the objects that the deletion is about, because it still matches a selector for example.
	// One that is not is left alone. It is called by several goroutines at a time.
	Meant func(ctx context.Context, t graph.Type, ref graph.Ref) (bool, error)
}

// Replanned is a plan with where the listing ended on which it rests.
type Replanned struct {
	Plan         *plan.Plan
	ResumePoints []cluster.ResumePoint
	// LeftOut says by uid why roots are not in the plan that are not gone.
	LeftOut map[string]error
}

// serialized makes the calls come one at a time: the deletes and the watches tell from goroutines
// of their own.
func (o Options) serialized() Options {
	var mu sync.Mutex
	tell, ticked, replan, wrote := o.OnEvent, o.Tick, o.Replan, o.OnWrite
	alone := func(isThere bool, call func()) {
		if isThere {
			mu.Lock()
			defer mu.Unlock()
			call()
		}
	}
	o.OnWrite = func(g *graph.Graph, a plan.Action, err error) { alone(wrote != nil, func() { wrote(g, a, err) }) }
	o.OnEvent = func(e Event) { alone(tell != nil, func() { tell(e) }) }
	o.Tick = func(p Progress) { alone(ticked != nil, func() { ticked(p) }) }
	if replan != nil {
		o.Replan = func(ctx context.Context, roots []graph.Ref) (Replanned, error) {
			mu.Lock()
			defer mu.Unlock()
			return replan(ctx, roots)
		}
	}
	return o
}

// ErrNotCollected is that the wait ended when all that the plan deletes was gone, but before
// Collect had come to its end: objects that stay may still have references to it.
var ErrNotCollected = errors.New(
	"all objects of the plan are deleted, but kept objects may still have references to them")

// run is a plan that is being carried out.
type run struct {
	client *cluster.Client
	opts   Options
	result *Result
	waiter *waiter
	grace  *shortener
	plans  []*plan.Plan
	// looking guards resumePoints, which are what is watched.
	looking      sync.Mutex
	resumePoints []cluster.ResumePoint
	// quiet says when to look without being told.
	quiet quiet
	// unseen guards the Unseen of the result while the watches run.
	unseen sync.Mutex
	// patched are the objects that were written to before the deletes, by uid, as they were
	// answered.
	patched map[string]*graph.Object
	// collected says that Collect has come to its end after all was gone.
	collected bool
	// watches are what runs beside the deletes and the wait, and watching is its context.
	watches  *errgroup.Group
	watching context.Context
}

// Run sends the deletes of a plan and waits for the cascade. The error is for what ended it early,
// a context among it; what single objects met is in the Result, which is never nil.
func Run(ctx context.Context, client *cluster.Client, p *plan.Plan, opts Options) (*Result, error) {
	r := &run{client: client, opts: opts.serialized(), result: &Result{}, patched: map[string]*graph.Object{}}
	r.waiter = newWaiter(r.opts)
	r.grace = newShortener(ctx, r)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	r.watches, r.watching = errgroup.WithContext(watching)
	r.watches.Go(func() error { return r.tick(r.watching) })
	r.sendAll(ctx, Replanned{Plan: p, ResumePoints: opts.ResumePoints})
	err := context.Cause(ctx)
	switch {
	case err != nil:
	case opts.Wait:
		err = r.wait(ctx)
	case opts.Collect != nil:
		err = opts.Collect(ctx, r.result.Done)
	}
	stop()
	_ = r.watches.Wait() // its error, if it is not the end of the context, was seen by wait
	r.grace.finish()
	if opts.Wait && errors.Is(err, context.DeadlineExceeded) && r.lastLook(ctx) {
		if err = nil; opts.Collect != nil && !r.collected {
			err = ErrNotCollected
		}
	}
	slices.SortFunc(r.result.Unseen, func(a, b Unseen) int { return compareRefs(a.Object, b.Object) })
	if err == nil && opts.Wait {
		r.result.Orphaned, err = r.orphaned(ctx)
	}
	r.result.Blocked, r.result.Unplanned = r.waiter.blocked(), r.waiter.besides()
	return r.result, err
}

// sendAll sends the deletes of a plan and, where roots turn out to have been changed, of what they
// were planned again to.
func (r *run) sendAll(ctx context.Context, next Replanned) {
	for round := 0; ; round++ {
		if !r.prepare(ctx, next.Plan) {
			return
		}
		r.follow(next)
		rest := r.send(ctx, next.Plan)
		if len(rest) == 0 {
			return
		}
		var ok bool
		if next, ok = r.replan(ctx, next.Plan, rest, round); !ok {
			return
		}
	}
}

// follow has all that a plan deletes waited for.
func (r *run) follow(next Replanned) {
	r.plans = append(r.plans, next.Plan)
	if !r.opts.Wait {
		return
	}
	points := r.waiter.add(next)
	r.looking.Lock()
	r.resumePoints = append(r.resumePoints, points...)
	r.looking.Unlock()
	for _, p := range points {
		r.watches.Go(func() error { return r.watch(r.watching, p) })
	}
}

// wait waits until all that was deleted is gone, with what goes along.
func (r *run) wait(ctx context.Context) error {
	r.waiter.sent(r.expected())
	r.watches.Go(func() error { return r.guard(r.watching) })
	done := r.waiter.done
	if r.opts.Collect != nil {
		collected := make(chan struct{})
		r.watches.Go(func() error {
			err := r.collect(r.watching)
			if err == nil {
				r.collected = true
				close(collected)
			}
			return err
		})
		done = collected
	}
	select {
	case <-done:
		return nil
	case <-r.watching.Done():
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return context.Cause(r.watching)
	}
}

// expected are the uids of what goes; nil means all that is waited for. What belongs to roots whose
// deletion was refused, or that are not meant any more, does not.
func (r *run) expected() map[string]bool {
	alone := slices.ContainsFunc(r.result.Skipped, func(f Failure) bool { return errors.Is(f.Err, errNotMeant) })
	if len(r.result.Failed) == 0 && !alone {
		return nil
	}
	done := r.deleted()
	expected := map[string]bool{}
	for _, p := range r.plans {
		var roots []graph.ID
		for _, id := range p.Roots {
			if done[p.Graph.Ref(id).UID] {
				roots = append(roots, id)
			}
		}
		for _, a := range p.First() {
			if done[p.Graph.Ref(a.Object).UID] && !slices.Contains(roots, a.Object) {
				roots = append(roots, a.Object)
			}
		}
		maps.Copy(expected, p.Graph.UIDs(p.Again(roots).Deleted))
	}
	return expected
}

// deleted are the uids of what was deleted, whether the server has followed the policy or not.
func (r *run) deleted() map[string]bool {
	deleted := map[string]bool{}
	for _, d := range r.result.Done {
		if d.Verb == plan.VerbDelete {
			deleted[d.Graph.Ref(d.Object).UID] = true
		}
	}
	for _, f := range r.result.Failed {
		if errors.Is(f.Err, ErrPolicyIgnored) {
			deleted[f.Graph.Ref(f.Action.Object).UID] = true
		}
	}
	return deleted
}
