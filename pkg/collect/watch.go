package collect

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
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
// ends, which is the error then. It watches all types that it has listed, where it has listed them; a type that may not be watched is listed every now
// and then. A pass lists again, with fresh discovery, so that new types join.
//
// After its first listing it goes on when the server does not answer (Options.Retry), and, if there is an Options.Paused, when a pass is refused because owners
// are gone all at once: nothing of that pass is written. It ends where that cannot help: credentials that are refused, a server that lets nothing be
// listed, or neither listed nor watched. Options.Agree is asked about what comes up after the first run.
func (l *Loop) Watch(ctx context.Context, enough func(*Result) bool) (*Result, error) {
	l.bound = l.explicit
	var watched *watcher
	defer func() {
		watched.stop()
		l.lost = losses{}
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
		if watched == nil || !watched.covers(s.ResumePoints) {
			watched.stop()
			watched = l.watch(ctx, s.ResumePoints)
		}
		if err := watched.wait(ctx, l.opts.Settle, most); err != nil {
			return s, err
		}
		clear(l.failed) // what was refused before may be taken now
	}
}

// watcher hears of changes.
type watcher struct {
	watched []place
	dirty   chan struct{}
	cancel  context.CancelFunc
	ended   chan error
}

// place is a type, in a namespace or everywhere.
type place struct {
	t         graph.Type
	namespace string
}

func (l *Loop) watch(ctx context.Context, points []cluster.ResumePoint) *watcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{watched: places(points), dirty: make(chan struct{}, 1), cancel: cancel, ended: make(chan error, 1)}
	go func() {
		w.ended <- l.client.Watch(ctx, points, func(c cluster.Change) {
			if c.Gone && c.Object != nil {
				l.witness(c.Object.UID)
			}
			if givesWork(c) {
				select {
				case w.dirty <- struct{}{}:
				default:
				}
			}
		})
	}()
	return w
}

// witness records that an object was seen to be deleted: that its dependents have lost an owner is then no surprise.
func (l *Loop) witness(uid string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.witnessed[uid] = true
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

func places(points []cluster.ResumePoint) []place {
	var places []place
	for _, p := range points {
		places = append(places, place{p.Type, p.Namespace})
	}
	return places
}

// covers says whether all that was listed is watched.
func (w *watcher) covers(points []cluster.ResumePoint) bool {
	watched := map[place]bool{}
	for _, p := range w.watched {
		watched[p] = true
	}
	for _, p := range places(points) {
		if !watched[p] {
			return false
		}
	}
	return true
}

// wait waits for a change, and until no more have come for a while; for a change no longer than most, if that is not zero.
func (w *watcher) wait(ctx context.Context, settle, most time.Duration) error {
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
	case <-w.dirty:
	case <-over:
		return nil
	case err := <-w.ended:
		w.ended <- err
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	longest := time.NewTimer(mostSettles * settle)
	defer longest.Stop()
	for {
		quiet := time.NewTimer(settle)
		select {
		case <-w.dirty:
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

// stop ends the watches; a watcher that was never begun has none.
func (w *watcher) stop() {
	if w == nil {
		return
	}
	w.cancel()
	<-w.ended
}
