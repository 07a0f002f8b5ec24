package act

import (
	"slices"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// wholeTypeFrom is in how many namespaces objects of one type are waited for before it is watched everywhere.
const wholeTypeFrom = 4

// waiter knows what of a cascade is left.
type waiter struct {
	opts Options
	done chan struct{} // closed when all was sent and nothing is left
	// changed has an entry when something has changed since it was taken out.
	changed chan struct{}

	mu      sync.Mutex
	pending map[string]*waited // by uid
	going   map[string]bool    // the uids of all that is deleted
	allSent bool
	last    time.Time
	// wave is the last in which something was seen to happen.
	wave, waves int
}

// waited is an object that is waited for, with the plan's view of it.
type waited struct {
	Left
	graph *graph.Graph
	id    graph.ID
	// deletedIn and goneIn are the waves in which the plan has it deleted and gone.
	deletedIn, goneIn int
	policy            plan.Policy
	// blocking are the references of the graph that were made to block.
	blocking map[int]bool
}

func newWaiter(opts Options) *waiter {
	return &waiter{opts: opts, done: make(chan struct{}), changed: make(chan struct{}, 1), pending: map[string]*waited{}, going: map[string]bool{}, last: time.Now()}
}

// add has what a plan deletes waited for and returns what to watch for that: each type in each namespace where something is waited for,
// from where it was listed.
func (w *waiter) add(next Replanned) []cluster.Position {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := next.Plan
	types := map[scope]bool{}
	added := make(map[graph.ID]*waited, len(p.Deleted))
	block := map[int]bool{}
	for _, a := range blocking(p) {
		for _, index := range a.Edges {
			block[index] = true
		}
	}
	for _, id := range p.Deleted {
		ref := p.Graph.Ref(id)
		t, _ := p.Graph.Type(id)
		types[scope{t, ref.Namespace}] = true
		left := Left{Object: ref, Deleting: p.Graph.State(id) == graph.Deleting, Deleted: p.Graph.Deleted(id), Finalizers: p.Graph.Finalizers(id)}
		added[id] = &waited{Left: left, graph: p.Graph, id: id, blocking: block}
		w.going[ref.UID] = true
		w.pending[ref.UID] = added[id]
	}
	for _, a := range p.Actions {
		if l, ok := added[a.Object]; ok {
			l.goneIn = max(l.goneIn, a.Wave)
			if a.Verb == plan.VerbDelete {
				l.deletedIn, l.policy = a.Wave, a.Policy
			}
		}
	}
	w.waves = max(w.waves, p.Waves())
	return positions(types, next.Positions)
}

type scope struct {
	t         graph.Type
	namespace string
}

func positions(types map[scope]bool, listed []cluster.Position) []cluster.Position {
	namespaces := map[graph.Type]int{}
	for s := range types {
		namespaces[s.t]++
	}
	wanted := map[scope]bool{}
	for s := range types {
		if namespaces[s.t] >= wholeTypeFrom {
			s.namespace = ""
		}
		wanted[s] = true
	}
	var positions []cluster.Position
	for s := range wanted {
		p := cluster.Position{Type: s.t, Namespace: s.namespace}
		for _, l := range listed {
			if l.Type == s.t && (l.Namespace == "" || l.Namespace == s.namespace) {
				p.ResourceVersion = l.ResourceVersion
			}
		}
		positions = append(positions, p)
	}
	return positions
}

func (w *waiter) change(c cluster.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, ok := w.pending[c.Object.UID]
	if !ok {
		return
	}
	w.last = time.Now()
	select {
	case w.changed <- struct{}{}:
	default:
	}
	l.Deleting, l.Deleted, l.Finalizers = c.Object.Deleted != 0, c.Object.Deleted, slices.Clone(c.Object.Finalizers)
	if l.Deleting {
		l.Refused = nil
		w.wave = max(w.wave, l.deletedIn)
	}
	switch {
	case c.Gone:
		w.gone(c.Object.UID)
	case w.released(l, c.Object):
		w.drop(c.Object.UID, Kept)
	}
}

// released says whether an object is not going any more: it had references to what is deleted, and a controller or a person has taken
// them off. The lock is held.
func (w *waiter) released(l *waited, o *graph.Object) bool {
	if o.Deleted != 0 || l.graph.OwnerCount(l.id) == 0 {
		return false
	}
	for _, r := range o.Owners {
		if w.going[r.UID] {
			return false
		}
	}
	for e := range l.graph.Owners(l.id) {
		if w.going[l.graph.Ref(e.Owner).UID] {
			return true
		}
	}
	return false
}

// gone takes an object that is no more off the list; the lock is held.
func (w *waiter) gone(uid string) {
	w.wave = max(w.wave, w.pending[uid].goneIn)
	w.drop(uid, Gone)
}

// drop stops waiting for an object; the lock is held.
func (w *waiter) drop(uid string, what What) {
	l := w.pending[uid]
	delete(w.pending, uid)
	w.opts.Tell(Event{What: what, Object: l.Object})
	w.finish()
}

// finish ends the wait if nothing is left and nothing will be added; the lock is held.
func (w *waiter) finish() {
	if !w.allSent || len(w.pending) > 0 {
		return
	}
	select {
	case <-w.done:
	default:
		close(w.done)
	}
}

// listed takes off what a list has not shown.
func (w *waiter) listed(c cluster.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for uid, l := range w.pending {
		if within(l.Object, c.Position) && !c.Listed[uid] {
			w.gone(uid)
		}
	}
}

func within(ref graph.Ref, p cluster.Position) bool {
	return ref.Resource == p.Type.Resource && ref.Group() == p.Type.Group && (p.Namespace == "" || p.Namespace == ref.Namespace)
}

// sent says that all deletes were sent. What is not expected to go is not waited for any more; nil expects everything.
func (w *waiter) sent(expected map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if expected != nil {
		for uid := range w.pending {
			if !expected[uid] {
				delete(w.pending, uid)
			}
		}
	}
	w.allSent = true
	w.finish()
}

// get returns what is known of an object that is waited for.
func (w *waiter) get(uid string) (waited, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, ok := w.pending[uid]
	if !ok {
		return waited{}, false
	}
	return *l, true
}
