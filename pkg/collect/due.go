package collect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

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
