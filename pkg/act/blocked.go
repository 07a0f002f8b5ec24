package act

import (
	"context"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
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
			l.Untold = l.unheld && !w.awaitsDeleter(l)
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

// collectorsTurn reports whether nothing but the collector has to act on an object: its owners are
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

// mayBeNewKind reports whether the kind of an object may be so new that the collector does not
// watch it yet: it is a custom one, and nothing proves it to be older, since the object is not.
func mayBeNewKind(g *graph.Graph, id graph.ID, now time.Time) bool {
	created := g.CreationTimestamp(id)
	return created != 0 && now.Sub(time.Unix(created, 0)) < newKind && !cluster.BuiltIn(g.Ref(id).Group())
}

const (
	// troubleEvery is how often the objects that a Progress names are read for what they say is
	// wrong.
	troubleEvery = 5 * time.Second
	// maxTroubled is how many of them are.
	maxTroubled = 5
)

// troubles reads what the objects that wait for the finalizers of others say is wrong: a managed
// resource whose part outside the cluster cannot be deleted has a condition that says why. Objects
// of the core group have none, and of a namespace the finalizers in its spec are read.
func (r *run) troubles(ctx context.Context, p Progress) {
	ctx, cancel := context.WithTimeout(ctx, troubleEvery)
	defer cancel()
	read := 0
	for _, b := range p.Blocked {
		t, id, ok := r.waiter.readable(b)
		if !ok || read == maxTroubled {
			continue
		}
		read++
		o, err := r.client.GetObject(ctx, t, b.Object.Namespace, b.Object.Name)
		switch {
		case err == nil && string(o.GetUID()) == id:
			if isNamespace(b.Object) {
				r.waiter.troubled(id, status.Condition{}, cluster.ForeignInSpec(o), false)
				continue
			}
			c, _ := status.Trouble(o)
			r.waiter.troubled(id, c, nil, false)
		case apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err):
			r.waiter.troubled(id, status.Condition{}, nil, true)
		}
	}
}

func isNamespace(ref graph.Ref) bool {
	return ref.Group() == "" && ref.Resource == cluster.Namespaces.Resource
}

// readable reports whether an object can say what is wrong with its deletion, with its type and
// uid.
func (w *waiter) readable(b Blocked) (graph.Type, string, bool) {
	uid := b.Object.UID
	if !b.Deleting || !isNamespace(b.Object) && (b.Object.Group() == "" || len(plan.Foreign(b.Finalizers)) == 0) {
		return graph.Type{}, uid, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l, ok := w.awaited[uid]
	if !ok || l.unreadable {
		return graph.Type{}, uid, false
	}
	t, ok := l.graph.Type(l.id)
	return t, uid, ok
}

// troubled keeps what an object says is wrong and the finalizers in its spec, or that it cannot be
// read.
func (w *waiter) troubled(uid string, c status.Condition, inSpec []string, unreadable bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l, ok := w.awaited[uid]; ok {
		l.Trouble, l.InSpec, l.unreadable = c, inSpec, unreadable
	}
}

const (
	// probeAfter is for how long nothing happens before the server is asked why, and how often it
	// is asked again.
	probeAfter = 10 * time.Second
	// maxProbed is how many objects it is asked about.
	maxProbed = 3
)

// probe asks the server, with dry runs, whether it lets anybody delete what it is the collector's
// turn to delete: an admission policy or a webhook that denies it, or a webhook that is down, stops
// the collector without a trace on the object.
func (r *run) probe(ctx context.Context, p Progress) {
	if p.Quiet < probeAfter || int(p.Quiet/tick)%int(probeAfter/tick) != 0 {
		return
	}
	for _, l := range r.waiter.undeleted(maxProbed) {
		if !slices.ContainsFunc(r.plans, func(p *plan.Plan) bool { return p.Graph == l.graph && p.Belongs(l.id) }) {
			continue // nothing is sent to what only an unconfirmed link leads to
		}
		o := objectOf(r.client, l.graph, l.id)
		_, err := o.Delete(ctx, cluster.DeleteOptions{Policy: string(l.policy), DryRun: true})
		if unasked := cluster.Unasked(err); unasked != nil && !unasked.Refused {
			continue
		}
		if change.IsAmbiguous(err) {
			if _, gone := o.Read(ctx); gone != nil {
				continue // or not to be read, so that nothing is known
			}
		}
		if ctx.Err() == nil {
			r.waiter.refused(o.Ref.UID, refusedForAll(err))
		}
	}
}

// refusedForAll returns an error that the collector meets too. That the user may not delete the
// object says nothing about that.
func refusedForAll(err error) error {
	switch {
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot delete resource"):
		return nil
	case apierrors.IsBadRequest(err): // a webhook that does not support dry runs (API-041)
		return nil
	}
	return err
}

// refused keeps why an object cannot be deleted; nil if it can.
func (w *waiter) refused(uid string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l, ok := w.awaited[uid]; ok {
		l.Refused = err
	}
}
