package collect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

const (
	// DefaultSettle is how long Watch waits for more changes before it looks at those that it has
	// heard of. It is long enough for a tool that restores objects one after the other.
	DefaultSettle = 500 * time.Millisecond
	// mostSettles is how many times that Watch waits at most while changes keep coming.
	mostSettles = 10
)

// Watch runs the loop, and again whenever something changes that can give it work, until enough
// says so of what a run has left, or the context ends, which is the error then. Its first pass
// lists; from there on it watches all types that it has listed, and later passes begin with what
// the watches have shown (cluster.Store). A type that may not be watched is listed every now and
// then, and so is the scope of an owner before it is released (recheck).
//
// A pass looks at the objects that events have touched, and at what depends on them, as the
// collector does (GC-023 to GC-027); at all there is where a type has come or gone or was listed
// again, where something could not be listed or read, and if enough is given. The Result is of all
// there is.
//
// After its first listing it goes on when the server does not answer (Options.Retry), and, if there
// is an Options.Paused, when a pass is refused because owners are gone all at once: nothing of that
// pass is written. It ends where that cannot help: credentials that are refused, a server that for
// half a minute lets nothing be listed, or neither listed nor watched. Options.Agree is asked about
// what comes up after the first run.
func (l *Loop) Watch(ctx context.Context, enough func(*Result) bool) (*Result, error) {
	return l.watch(ctx, enough, enough != nil)
}

// watch is Watch. With whole each pass looks at all there is.
func (l *Loop) watch(ctx context.Context, enough func(*Result) bool, whole bool) (*Result, error) {
	l.bound = l.explicit
	l.due, l.lost.first = newDue(), l.passes+1
	l.store = l.client.NewStore(ctx, l.opts.List, func(change cluster.Change) { l.hear(change, whole) })
	defer func() {
		l.store.Close()
		l.store, l.due, l.lost, l.served = nil, nil, losses{}, served{}
	}()
	var last *Result
	paused := pauses{tell: l.opts.Paused}
	wait := backoff{least: l.opts.Retry, most: l.opts.RetryMost}
	undone := wait
	var refused refusals
	for {
		s, err := l.run(ctx)
		if err == nil {
			err = nothingListed(s)
		}
		most, all := time.Duration(0), true // for how long a change is waited for, and whether all is due then
		again := l.answered && ctx.Err() == nil && refused.mayPass(err)
		if s != nil {
			last = s
		}
		switch {
		case again:
			paused.because("unreachable", err)
			if err := sleep(ctx, wait.step()); err != nil {
				return l.whole(ctx, last), err
			}
			continue
		case l.opts.Paused != nil && paused.refused(err):
			most = wait.longest() // the owner loss may be one for a while only
		case err != nil || enough != nil && enough(s):
			return l.whole(ctx, last), err
		default:
			paused.over()
			if !onlyForbidden(s.Gaps) || !onlyForbidden(s.Unread) {
				most = wait.longest() // what could not be listed or read may be seen then
			}
			left := l.undone(s)
			if !s.again {
				l.due.done(left)
			}
			if !s.again && len(left) == 0 {
				undone.reset()
			} else if step := undone.step(); most == 0 || step < most {
				most, all = step, false // whether or not an event comes
			}
		}
		wait.reset()
		l.store.Follow()
		heard, err := l.due.wait(ctx, l.store.Ended(), l.opts.Settle, most)
		if err != nil {
			return l.whole(ctx, last), err
		}
		if !heard && all {
			l.due.addAll()
		}
		clear(l.failed) // what was refused before may be taken now
	}
}

// undone returns the uids of the objects that a run has left because something was refused: a
// write, or the read of an owner. A server that has just started refuses for a moment what it
// permits.
func (l *Loop) undone(s *Result) []string {
	uids := slices.Collect(maps.Keys(l.failed))
	if len(s.Unread) == 0 {
		return uids
	}
	for _, o := range s.NotDeleted {
		if o.Because.Code == plan.OwnerUnresolved || o.Because.Code == plan.NotDone {
			uids = append(uids, s.Graph.Ref(o.Object).UID)
		}
	}
	return uids
}

// hear takes a change into account that the store has seen. With whole, what is left counts: an
// object that is being deleted, or is gone, changes that although it may give nothing work.
func (l *Loop) hear(c cluster.Change, whole bool) {
	switch {
	case c.Object == nil:
		l.missing(c)
		l.due.addAll()
		return
	case c.Gone:
		l.witness(c)
	}
	due := touched(c, l.store)
	counts := len(due) > 0 || c.Gone || c.Object.DeletionTimestamp != 0
	if whole && counts || c.Object.UID == "" || cluster.DefinesTypes(c.ResumePoint.Type) {
		l.due.addAll()
	} else {
		l.due.add(due...)
	}
}

// mostDue is of how many objects a watch hears before it looks at all there is instead.
const mostDue = 10_000

// due are the objects that a watch has to look at, by uid: what attemptToDelete and attemptToOrphan
// hold of the original. It is safe for concurrent use.
type due struct {
	// news has an element when something has been added since the last pass began.
	news chan struct{}

	mu sync.Mutex
	// heard were added since the last pass began, and taken are what the passes of a run look at.
	heard, taken map[string]bool
	// all says that all objects are due, and allTaken that the passes of a run look at all.
	all, allTaken bool
}

// newDue begins with all objects.
func newDue() *due {
	return &due{news: make(chan struct{}, 1), heard: map[string]bool{}, taken: map[string]bool{}, all: true}
}

// add makes objects due; none changes nothing.
func (d *due) add(uids ...string) {
	if len(uids) == 0 {
		return
	}
	d.mu.Lock()
	for _, uid := range uids {
		d.heard[uid] = true
	}
	d.mu.Unlock()
	d.tell()
}

// addAll makes all objects due.
func (d *due) addAll() {
	d.mu.Lock()
	d.all = true
	d.mu.Unlock()
	d.tell()
}

func (d *due) tell() {
	select {
	case d.news <- struct{}{}:
	default:
	}
}

// take returns the uids of the objects that the next pass of a run looks at: those of the passes
// before, and what was added since. It is false if that is all there is.
func (d *due) take() ([]string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.Copy(d.taken, d.heard)
	clear(d.heard)
	d.allTaken = d.allTaken || d.all || len(d.taken) > mostDue
	d.all = false
	if d.allTaken {
		clear(d.taken)
		return nil, false
	}
	uids := slices.AppendSeq(make([]string, 0, len(d.taken)), maps.Keys(d.taken)) // none is not nil, which is all
	slices.Sort(uids)
	return uids, true
}

// done ends a run that has left nothing undone but these objects, which the next run looks at as
// well. After a run of which it is not called, that looks at all that it has looked at.
func (d *due) done(but []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.taken)
	d.allTaken = false
	for _, uid := range but {
		d.taken[uid] = true
	}
}

// wait waits for something to be due, and until nothing more has come for a while. It is false if
// nothing has come within most, if that is not zero; the error is from ended, or of the context.
func (d *due) wait(ctx context.Context, ended <-chan error, settle, most time.Duration) (bool, error) {
	settle = cmp.Or(settle, DefaultSettle)
	var over <-chan time.Time
	if most > 0 {
		over = time.After(most)
	}
	select {
	case <-d.news:
	case <-over:
		return false, nil
	case err := <-ended:
		return false, err
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	for longest := time.After(mostSettles * settle); ; {
		select {
		case <-d.news:
		case <-longest:
			return true, nil
		case <-time.After(settle):
			return true, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}
