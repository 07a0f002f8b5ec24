package act

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// tick is how often what is left is told while there is anything left.
const tick = time.Second

// MaxReported is how many of the objects a Progress names.
const MaxReported = 8

// tick tells what is left every second, and for how long nothing has happened.
func (r *run) tick(ctx context.Context) error {
	seconds := 0
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			p := r.waiter.progress(now)
			if p.BlockedCount == 0 {
				continue
			}
			r.opts.Tick(p)
			if r.quiet.due(p.Quiet) {
				r.look(ctx)
			}
			r.keep(ctx, now)
			r.probe(ctx, p)
			if seconds++; seconds%int(troubleEvery/tick) == 0 {
				r.troubles(ctx, p)
			}
		}
	}
}

// progress takes one look at each object that is left, and sorts none of them: there can be very
// many, and the watches wait for the lock.
func (w *waiter) progress(now time.Time) Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	var urgent []*waited // the first of each urgency
	var ranks []int
	var turn *waited
	for l := range w.each {
		if turn == nil && l.CollectorsTurn && l.Refused == nil && !mayBeNewKind(l.graph, l.id, now) {
			turn = l
		}
		rank := l.Urgency(now)
		if len(ranks) == MaxReported && rank >= ranks[MaxReported-1] {
			continue
		}
		i, _ := slices.BinarySearch(ranks, rank+1) // behind those of the same urgency
		ranks, urgent = slices.Insert(ranks, i, rank), slices.Insert(urgent, i, l)
		if len(ranks) > MaxReported {
			ranks, urgent = ranks[:MaxReported], urgent[:MaxReported]
		}
	}
	p := Progress{BlockedCount: len(w.awaited), Total: len(w.going), Wave: max(w.wave, 1), Waves: max(w.waves, 1),
		Quiet: now.Sub(w.last)}
	for _, l := range urgent {
		p.Blocked = append(p.Blocked, l.Blocked)
	}
	if turn != nil {
		p.CollectorsTurn = &Blocked{}
		*p.CollectorsTurn = turn.Blocked
	}
	return p
}

// each iterates over what is left, plan by plan, each in the order of its graph; the lock is held.
func (w *waiter) each(yield func(*waited) bool) {
	for _, c := range w.cascades {
		for l := range c.each {
			l.BlockingDependents = 0
			if slices.Contains(l.Finalizers, plan.ForegroundFinalizer) {
				l.BlockingDependents = l.blockers
			}
			l.CollectorsTurn = l.collectorsTurn()
			if !yield(l) {
				return
			}
		}
	}
}

// blocked returns the objects that are still there, in an order that does not change.
func (w *waiter) blocked() []Blocked {
	w.mu.Lock()
	left := make([]Blocked, 0, len(w.awaited))
	for l := range w.each {
		left = append(left, l.Blocked)
	}
	plans := len(w.cascades)
	w.mu.Unlock()
	if plans > 1 { // what one plan deletes has the order of its graph, which is this
		slices.SortFunc(left, func(a, b Blocked) int { return compareRefs(a.Object, b.Object) })
	}
	return left
}

// besides returns what was seen to go along though no plan has it.
func (w *waiter) besides() []graph.Ref {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(slices.Values(w.beyond), compareRefs)
}

// within returns what is left of a resume point's type and namespace.
func (w *waiter) within(p cluster.ResumePoint) []Blocked {
	w.mu.Lock()
	defer w.mu.Unlock()
	var left []Blocked
	for l := range w.each {
		if within(l.Object, p) {
			left = append(left, l.Blocked)
		}
	}
	return left
}

// undeleted returns, of what it is the collector's turn to delete, the first n.
func (w *waiter) undeleted(n int) []waited {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []waited
	for l := range w.each {
		if len(list) == n {
			break
		}
		if !l.Deleting && l.CollectorsTurn {
			list = append(list, *l)
		}
	}
	return list
}

// collectorsTurn says whether nothing but the collector has to act on an object: its owners are
// gone, or it waits for dependents that are gone, or for being orphaned. Its Blocking is known, and
// the lock is held.
func (l *waited) collectorsTurn() bool {
	if !l.Deleting {
		return l.owners == 0 && l.graph.OwnerCount(l.id) > 0
	}
	if len(l.Finalizers) != 1 {
		return false
	}
	switch l.Finalizers[0] {
	case plan.OrphanFinalizer:
		return true
	case plan.ForegroundFinalizer:
		return l.BlockingDependents == 0
	}
	return false
}

// Urgency ranks what is left: the lower, the more somebody can do about it; what waits for others
// comes last.
func (l *Blocked) Urgency(now time.Time) int {
	foreign, collectors := false, false
	for _, f := range l.Finalizers {
		if f == plan.ForegroundFinalizer || f == plan.OrphanFinalizer {
			collectors = true
		} else {
			foreign = true
		}
	}
	switch {
	case l.Refused != nil:
		return 0
	case l.Deleting && foreign:
		return 1
	case l.CollectorsTurn:
		return 2
	case l.Deleting && !collectors && l.DeletionTimestamp <= now.Unix():
		return 3
	case l.Deleting && !collectors:
		return 4
	case l.Deleting:
		return 5
	}
	return 6
}

// newKind is for how long after its definition the collector may not watch a custom kind: it looks
// for kinds twice a minute.
const newKind = time.Minute

// mayBeNewKind says whether the kind of an object may be so new that the collector does not watch it
// yet: it is a custom one, and nothing proves it to be older, since the object is not.
func mayBeNewKind(g *graph.Graph, id graph.ID, now time.Time) bool {
	created := g.CreationTimestamp(id)
	return created != 0 && now.Sub(time.Unix(created, 0)) < newKind && !cluster.BuiltIn(g.Ref(id).Group())
}
