package collect

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

const (
	// DefaultSettle is how long Watch waits for more changes before it looks at those that it has heard of. It is long enough for a tool that
	// restores objects one after the other.
	DefaultSettle = 500 * time.Millisecond
	// mostSettles is how many times that Watch waits at most while changes keep coming.
	mostSettles = 10
)

// Watch runs the loop, and again whenever something changes that can give it work, until enough says so of what a run has left, or the context
// ends, which is the error then. Its first pass lists; from there on it watches all types that it has listed, and later passes begin with what the watches
// have shown (cluster.Store). Each asks discovery, so that new types join. A type that may not be watched is listed every now and then, and so is the scope
// of an owner before it is released (recheck).
//
// After its first listing it goes on when the server does not answer (Options.Retry), and, if there is an Options.Paused, when a pass is refused because owners
// are gone all at once: nothing of that pass is written. It ends where that cannot help: credentials that are refused, a server that lets nothing be
// listed, or neither listed nor watched. Options.Agree is asked about what comes up after the first run.
func (l *Loop) Watch(ctx context.Context, enough func(*Result) bool) (*Result, error) {
	l.bound = l.explicit
	c := newChanges()
	l.store = l.client.NewStore(ctx, l.opts.List, func(change cluster.Change) {
		if change.Gone && change.Object != nil {
			l.witness(change)
		}
		if givesWork(change) {
			c.note()
		}
	})
	defer func() {
		l.store.Close()
		l.store, l.lost = nil, losses{}
	}()
	var last *Result
	paused := pauses{tell: l.opts.Paused}
	wait := backoff{least: l.opts.Retry, most: l.opts.RetryMost}
	for {
		s, err := l.run(ctx)
		if err == nil {
			err = nothingListed(s)
		}
		most := time.Duration(0) // for which a change is waited for
		again := l.answered && ctx.Err() == nil && mayPass(err)
		if s != nil {
			last = s
		}
		switch {
		case again:
			paused.because("unreachable", err)
			if err := wait.failed(ctx); err != nil {
				return last, err
			}
			continue
		case l.opts.Paused != nil && paused.refused(err):
			most = wait.longest() // the owner loss may be one for a while only
		case err != nil || enough != nil && enough(s):
			return last, err
		default:
			paused.over()
			if !onlyForbidden(s.Gaps) || !onlyForbidden(s.Unread) {
				most = wait.longest() // what could not be listed or read may be seen then
			}
		}
		wait.reset()
		if l.lost.before == nil {
			l.lost.before = s.Graph
		}
		l.store.Follow()
		if err := c.wait(ctx, l.store.Ended(), l.opts.Settle, most); err != nil {
			return s, err
		}
		clear(l.failed) // what was refused before may be taken now
	}
}

// changes hears of changes.
type changes struct{ dirty chan struct{} }

func newChanges() *changes { return &changes{dirty: make(chan struct{}, 1)} }

func (c *changes) note() {
	select {
	case c.dirty <- struct{}{}:
	default:
	}
}

// givesWork says whether a change can make the collector act (GC-023 to GC-027): an object is gone, or names owners, or waits for its dependents;
// or a type has come or gone.
func givesWork(c cluster.Change) bool {
	o := c.Object
	if o == nil || c.Gone || len(o.Owners) > 0 {
		return true
	}
	if c.ResumePoint.Type.Resource == "customresourcedefinitions" || c.ResumePoint.Type.Resource == "apiservices" {
		return true
	}
	return o.DeletionTimestamp != 0 && (slices.Contains(o.Finalizers, plan.OrphanFinalizer) || slices.Contains(o.Finalizers, plan.ForegroundFinalizer))
}

// wait waits for a change, and until no more have come for a while; for a change no longer than most, if that is not zero.
func (c *changes) wait(ctx context.Context, ended <-chan error, settle, most time.Duration) error {
	if settle <= 0 {
		settle = DefaultSettle
	}
	var over <-chan time.Time
	if most > 0 {
		timer := time.NewTimer(most)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-c.dirty:
	case <-over:
		return nil
	case err := <-ended:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	longest := time.NewTimer(mostSettles * settle)
	defer longest.Stop()
	for {
		quiet := time.NewTimer(settle)
		select {
		case <-c.dirty:
			quiet.Stop()
			continue
		case <-longest.C:
			quiet.Stop()
			return nil
		case <-quiet.C:
			return nil
		case <-ctx.Done():
			quiet.Stop()
			return context.Cause(ctx)
		}
	}
}
