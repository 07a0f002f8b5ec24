package act

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// tick is how often what is left is told while there is anything left.
const tick = time.Second

// tick tells what is left every second, and for how long nothing has happened.
func (r *run) tick(ctx context.Context) error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			p := r.waiter.progress(now)
			if len(p.Left) == 0 {
				continue
			}
			r.opts.Tick(p)
			r.probe(ctx, p)
		}
	}
}

func (w *waiter) progress(now time.Time) Progress {
	p := Progress{Left: w.left()}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.Total, p.Wave, p.Waves, p.Quiet = len(w.going), max(w.wave, 1), w.waves, now.Sub(w.last)
	return p
}

// left returns what is still there, in an order that does not change.
func (w *waiter) left() []Left {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := make([]Left, 0, len(w.pending))
	for _, l := range w.pending {
		l.Blocking = w.blocking(l)
		l.CollectorsTurn = w.collectorsTurn(l)
		left = append(left, l.Left)
	}
	slices.SortFunc(left, func(a, b Left) int { return compareRefs(a.Object, b.Object) })
	return left
}

// blocking counts the dependents that an object waits for; the lock is held.
func (w *waiter) blocking(l *waited) int {
	if !slices.Contains(l.Finalizers, plan.ForegroundFinalizer) {
		return 0
	}
	n, last := 0, graph.ID(-1)
	for e := range l.graph.Dependents(l.id) { // an object's references stand together
		if _, pending := w.pending[l.graph.Ref(e.Dependent).UID]; pending && (e.Block || l.blocking[e.Index]) && e.Dependent != last {
			n, last = n+1, e.Dependent
		}
	}
	return n
}

// collectorsTurn says whether nothing but the collector has to act on an object: its owners are gone, or it waits for dependents that are
// gone, or for being orphaned. The lock is held.
func (w *waiter) collectorsTurn(l *waited) bool {
	if !l.Deleting {
		for e := range l.graph.Owners(l.id) {
			if _, pending := w.pending[l.graph.Ref(e.Owner).UID]; pending {
				return false
			}
		}
		return l.graph.OwnerCount(l.id) > 0
	}
	if len(l.Finalizers) != 1 {
		return false
	}
	switch l.Finalizers[0] {
	case plan.OrphanFinalizer:
		return true
	case plan.ForegroundFinalizer:
		return l.Blocking == 0
	}
	return false
}
