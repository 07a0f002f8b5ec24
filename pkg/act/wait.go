package act

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// tick is how often what is left is told while there is anything left.
const tick = time.Second

// wholeTypeFrom is in how many namespaces objects of one type are waited for before it is watched everywhere.
const wholeTypeFrom = 4

// waiter knows what of a cascade is left.
type waiter struct {
	opts  Options
	graph *graph.Graph
	total int
	done  chan struct{}

	mu      sync.Mutex
	pending map[string]*Left // by uid
	going   map[string]bool  // the uids of all that the plan deletes
	types   map[scope]bool
	last    time.Time
}

type scope struct {
	t         graph.Type
	namespace string
}

func newWaiter(p *plan.Plan, opts Options) *waiter {
	w := &waiter{opts: opts, graph: p.Graph, done: make(chan struct{}), pending: map[string]*Left{}, going: map[string]bool{}, types: map[scope]bool{}, last: time.Now()}
	for _, id := range p.Deleted {
		ref := p.Graph.Ref(id)
		t, _ := p.Graph.Type(id)
		w.types[scope{t, ref.Namespace}] = true
		w.going[ref.UID] = true
		w.pending[ref.UID] = &Left{Object: ref, Deleting: p.Graph.State(id) == graph.Deleting, Finalizers: p.Graph.Finalizers(id)}
	}
	w.total = len(w.pending)
	return w
}

// positions are what to watch: each type in each namespace where something is waited for, from where it was listed.
func (w *waiter) positions() []cluster.Position {
	namespaces := map[graph.Type]int{}
	for s := range w.types {
		namespaces[s.t]++
	}
	wanted := map[scope]bool{}
	for s := range w.types {
		if namespaces[s.t] >= wholeTypeFrom {
			s.namespace = ""
		}
		wanted[s] = true
	}
	var positions []cluster.Position
	for s := range wanted {
		p := cluster.Position{Type: s.t, Namespace: s.namespace}
		for _, listed := range w.opts.Positions {
			if listed.Type == s.t && (listed.Namespace == "" || listed.Namespace == s.namespace) {
				p.ResourceVersion = listed.ResourceVersion
			}
		}
		positions = append(positions, p)
	}
	return positions
}

// watch follows the cascade until the context ends.
func (w *waiter) watch(ctx context.Context, client *cluster.Client) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	told := make(chan struct{})
	go func() {
		defer close(told)
		w.tell(ctx)
	}()
	err := client.Watch(ctx, w.positions(), func(c cluster.Change) {
		if c.Object == nil {
			w.listed(c)
		} else {
			w.change(c)
		}
	})
	cancel()
	<-told
	return err
}

func (w *waiter) change(c cluster.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left, waited := w.pending[c.Object.UID]
	if !waited {
		return
	}
	w.last = time.Now()
	left.Deleting, left.Finalizers = c.Object.Deleted != 0, slices.Clone(c.Object.Finalizers)
	switch {
	case c.Gone:
		w.gone(c.Object.UID)
	case w.released(c.Object):
		w.drop(c.Object.UID, Kept)
	}
}

// released says whether an object is not going any more: it had references to what is deleted, and a controller or a person has taken
// them off. The lock is held.
func (w *waiter) released(o *graph.Object) bool {
	id, ok := w.graph.Lookup(o.UID)
	if !ok || o.Deleted != 0 || w.graph.OwnerCount(id) == 0 {
		return false
	}
	for _, r := range o.Owners {
		if w.going[r.UID] {
			return false
		}
	}
	for e := range w.graph.Owners(id) {
		if w.going[w.graph.Ref(e.Owner).UID] {
			return true
		}
	}
	return false
}

// gone takes an object that is no more off the list; the lock is held.
func (w *waiter) gone(uid string) { w.drop(uid, Gone) }

// drop stops waiting for an object; the lock is held.
func (w *waiter) drop(uid string, what What) {
	left := w.pending[uid]
	delete(w.pending, uid)
	w.opts.Tell(Event{What: what, Object: left.Object})
	if len(w.pending) == 0 {
		close(w.done)
	}
}

// listed takes off what a list has not shown.
func (w *waiter) listed(c cluster.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := c.Position
	for uid, left := range w.pending {
		ref := left.Object
		if ref.Resource == p.Type.Resource && ref.Group() == p.Type.Group && (p.Namespace == "" || p.Namespace == ref.Namespace) && !c.Listed[uid] {
			w.gone(uid)
		}
	}
}

// abandon stops waiting for what will not go, because its deletion was refused.
func (w *waiter) abandon(p *plan.Plan, result *Result) {
	if len(result.Failed) == 0 {
		w.finishIfEmpty()
		return
	}
	var roots []graph.ID
	for _, a := range result.Done {
		roots = append(roots, a.Object)
	}
	expected := map[string]bool{}
	for _, id := range p.Again(roots).Deleted {
		expected[p.Graph.Ref(id).UID] = true
	}
	w.mu.Lock()
	for uid := range w.pending {
		if !expected[uid] {
			delete(w.pending, uid)
		}
	}
	w.mu.Unlock()
	w.finishIfEmpty()
}

func (w *waiter) finishIfEmpty() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.done:
	default:
		if len(w.pending) == 0 {
			close(w.done)
		}
	}
}

// collectorsTurn says whether nothing but the collector has to act on an object: its owners are gone, or it waits for dependents that are
// gone, or for being orphaned. The lock is held.
func (w *waiter) collectorsTurn(uid string, l *Left) bool {
	id, ok := w.graph.Lookup(uid)
	if !ok {
		return false
	}
	if !l.Deleting {
		for e := range w.graph.Owners(id) {
			if _, pending := w.pending[w.graph.Ref(e.Owner).UID]; pending {
				return false
			}
		}
		return w.graph.OwnerCount(id) > 0
	}
	if len(l.Finalizers) != 1 {
		return false
	}
	switch l.Finalizers[0] {
	case plan.OrphanFinalizer:
		return true
	case plan.ForegroundFinalizer:
		for e := range w.graph.Dependents(id) {
			if _, pending := w.pending[w.graph.Ref(e.Dependent).UID]; pending && e.Block {
				return false
			}
		}
		return true
	}
	return false
}

// left returns what is still there, in an order that does not change.
func (w *waiter) left() []Left {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := make([]Left, 0, len(w.pending))
	for uid, l := range w.pending {
		l.CollectorsTurn = w.collectorsTurn(uid, l)
		left = append(left, *l)
	}
	slices.SortFunc(left, func(a, b Left) int { return compareRefs(a.Object, b.Object) })
	return left
}

// tell tells what is left every second, and for how long nothing has happened.
func (w *waiter) tell(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			w.mu.Lock()
			quiet := now.Sub(w.last)
			w.mu.Unlock()
			if left := w.left(); len(left) > 0 {
				w.opts.Tick(left, w.total, quiet)
			}
		}
	}
}
