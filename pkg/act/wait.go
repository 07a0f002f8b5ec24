package act

import (
	"slices"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// wholeTypeFrom is in how many namespaces objects of one type are waited for before it is watched
// everywhere, if it was listed everywhere.
const wholeTypeFrom = 4

// waiter knows what of a cascade is left.
type waiter struct {
	opts Options
	done chan struct{} // closed when all was sent and nothing is left
	// changed has an entry when something has changed since it was taken out.
	changed chan struct{}

	mu      sync.Mutex
	awaited map[string]*waited // by uid
	going   map[string]bool    // the uids of all that is deleted
	// above are the uids of owners that are not waited for and go too, or have gone before: what
	// they own is deleted because of them.
	above    map[string]bool
	cascades []*cascade
	// unplanned are the uids of what was seen to go along with the cascade though no plan has it,
	// and beyond are those objects.
	unplanned map[string]bool
	beyond    []graph.Ref
	// goneAt is when objects were seen to be gone, and kept are those that programs were to delete
	// and have left alone, with what was to go because of them, both by uid. Reached are those that
	// something else deletes, as long as nothing more is kept.
	goneAt        map[string]time.Time
	kept, reached map[string]bool
	allSent       bool
	last          time.Time
	// wave is the last in which something was seen to happen.
	wave, waves int
}

// waited is an object that is waited for, with the plan's view of it.
type waited struct {
	Blocked
	cascade *cascade
	graph   *graph.Graph
	id      graph.ID
	// deletedIn and goneIn are the waves in which the plan has it deleted and gone.
	deletedIn, goneIn int
	policy            plan.Policy
	// deleters are the objects whose deletion has programs delete it because of links, within some
	// time after they are gone; none if it is deleted otherwise.
	deleters []graph.ID
	within   time.Duration
	// unheld says that such a program has no finalizer on them.
	unheld bool
	// owners is how many of its references are to objects that are waited for, and blockers how
	// many such objects block it. They are counted while the cascade goes, because to count them
	// anew every second would take longer than that.
	owners, blockers int
	over             bool // it is not waited for any more
	unreadable       bool // the user may not read it whole
}

func newWaiter(opts Options) *waiter {
	return &waiter{opts: opts, done: make(chan struct{}), changed: make(chan struct{}, 1), awaited: map[string]*waited{},
		going: map[string]bool{}, above: map[string]bool{}, unplanned: map[string]bool{}, goneAt: map[string]time.Time{},
		kept: map[string]bool{}, reached: map[string]bool{}, last: time.Now()}
}

// add has what a plan deletes waited for and returns what to watch for that: each type in each
// namespace where something is waited for, from where it was listed.
func (w *waiter) add(next Replanned) []cluster.ResumePoint {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := next.Plan
	types := map[scope]bool{}
	c := newCascade(p)
	for _, id := range p.Deleted {
		ref := p.Graph.Ref(id)
		t, _ := p.Graph.Type(id)
		types[scope{t, ref.Namespace}] = true
		if earlier, ok := w.awaited[ref.UID]; ok {
			earlier.over = true
			earlier.cascade.at[earlier.id].waited = nil
		}
		left := Blocked{Object: ref, Deleting: p.Graph.State(id) == graph.Deleting,
			DeletionTimestamp: p.Graph.DeletionTimestamp(id), Finalizers: p.Graph.Finalizers(id)}
		w.going[ref.UID] = true
		w.noteAbove(p, id)
		w.awaited[ref.UID] = c.add(&waited{Blocked: left, cascade: c, graph: p.Graph, id: id})
	}
	for _, a := range p.Actions {
		if l := c.at[a.Object].waited; l != nil {
			l.goneIn = max(l.goneIn, a.Wave)
			if a.Verb == plan.VerbDelete {
				l.deletedIn, l.policy = a.Wave, a.Policy
				if a.Because.Code == plan.LinkDeleted {
					f, found := p.Link(a.Object, a.Because)
					l.unheld = found && f.Definition.Deletion.Finalizer == ""
					deleters, within := p.LinkDeleters(a.Object)
					l.deleters, l.within = deleters, within.Duration
				}
			}
		}
	}
	w.cascades = append(w.cascades, c)
	w.count()
	w.waves = max(w.waves, p.Waves())
	return resumePoints(types, next.ResumePoints)
}

// noteAbove notes the owners of an object that go too, so that one that loses all of them is known
// to stay. The lock is held.
func (w *waiter) noteAbove(p *plan.Plan, id graph.ID) {
	for e := range p.Graph.Owners(id) {
		if p.End().Gone(e.Owner) && p.Graph.State(e.Owner) != graph.Unknown {
			w.above[p.Graph.Ref(e.Owner).UID] = true
		}
	}
}

// leaves reports whether an object goes, or has gone, whose dependents are deleted because of it.
// The lock is held.
func (w *waiter) leaves(uid string) bool { return w.going[uid] || w.above[uid] }

// count counts for each object that is waited for what keeps it; the lock is held.
func (w *waiter) count() {
	for _, c := range w.cascades {
		c.count(w.awaited)
	}
}

type scope struct {
	t         graph.Type
	namespace string
}

// resumePoints returns where to watch for objects of some types and namespaces. Nothing is watched
// more widely than it was listed, since the right to do so may be missing.
func resumePoints(types map[scope]bool, listed []cluster.ResumePoint) []cluster.ResumePoint {
	namespaces := map[graph.Type]int{}
	for s := range types {
		namespaces[s.t]++
	}
	ended := map[scope]string{} // the resourceVersions of the lists
	for _, l := range listed {
		ended[scope{l.Type, l.Namespace}] = l.ResourceVersion
	}
	wanted := map[scope]string{}
	for s := range types {
		version, everywhere := ended[scope{s.t, ""}]
		switch own, ok := ended[s]; {
		case everywhere && namespaces[s.t] >= wholeTypeFrom:
			s.namespace = ""
		case ok:
			version = own
		}
		wanted[s] = version
	}
	var points []cluster.ResumePoint
	for s, version := range wanted {
		points = append(points, cluster.ResumePoint{Type: s.t, Namespace: s.namespace, ResourceVersion: version})
	}
	return points
}

func (w *waiter) change(c cluster.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, ok := w.awaited[c.Object.UID]
	if !ok {
		w.beside(c)
		return
	}
	w.moved()
	if c.Gone {
		w.gone(c.Object.UID)
		return
	}
	w.update(l, c.Object)
}

// beside notes what goes along with the cascade though no plan has it: it is being deleted, or
// gone, and belongs to something that goes. Nobody can keep the cluster's collector from deleting
// what has come up since the plan was made. The lock is held.
func (w *waiter) beside(c cluster.Change) {
	o := c.Object
	if w.going[o.UID] || w.unplanned[o.UID] || o.DeletionTimestamp == 0 && !c.Gone {
		return
	}
	if slices.ContainsFunc(o.Owners, func(r graph.OwnerReference) bool { return w.going[r.UID] || w.unplanned[r.UID] }) {
		w.unplanned[o.UID] = true
		w.beyond = append(w.beyond, c.ResumePoint.Type.Ref(o.Namespace, o.Name, o.UID))
	}
}

// found brings what is known of an object up to date with what a list or a read has shown, which
// may be what is known.
func (w *waiter) found(o *graph.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, ok := w.awaited[o.UID]
	if !ok {
		return
	}
	if l.DeletionTimestamp != o.DeletionTimestamp || !slices.Equal(l.Finalizers, o.Finalizers) {
		w.moved()
	}
	w.update(l, o)
}

// moved notes that something has happened; the lock is held.
func (w *waiter) moved() {
	w.last = time.Now()
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// update brings what is known of an object up to date; the lock is held.
func (w *waiter) update(l *waited, o *graph.Object) {
	l.Deleting, l.DeletionTimestamp, l.Finalizers = o.DeletionTimestamp != 0, o.DeletionTimestamp,
		slices.Clone(o.Finalizers)
	if l.Deleting {
		l.Refused = nil
		w.wave = max(w.wave, l.deletedIn)
	}
	if w.released(l, o) {
		w.drop(o.UID, Kept)
	}
}

// released reports whether an object is not going any more: it had references to what is deleted,
// and a controller or a person has taken them off. The lock is held.
func (w *waiter) released(l *waited, o *graph.Object) bool {
	if o.DeletionTimestamp != 0 || l.graph.OwnerCount(l.id) == 0 {
		return false
	}
	if slices.ContainsFunc(o.Owners, func(r graph.OwnerReference) bool { return w.leaves(r.UID) }) {
		return false
	}
	for e := range l.graph.Owners(l.id) {
		if w.leaves(l.graph.Ref(e.Owner).UID) {
			return true
		}
	}
	return false
}

// absent notes that an object that is waited for was read, and is no more.
func (w *waiter) absent(uid string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.awaited[uid]; ok {
		w.moved()
		w.gone(uid)
	}
}

// lost stops waiting for an object that may not be seen any more. It is false if it is not waited
// for.
func (w *waiter) lost(uid string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.awaited[uid]; !ok {
		return false
	}
	w.forget(uid)
	w.finish()
	return true
}

// gone takes an object that is no more off the list; the lock is held.
func (w *waiter) gone(uid string) {
	w.wave = max(w.wave, w.awaited[uid].goneIn)
	w.goneAt[uid] = time.Now()
	w.drop(uid, Gone)
}

// drop stops waiting for an object; the lock is held.
func (w *waiter) drop(uid string, what EventType) {
	l := w.awaited[uid]
	w.forget(uid)
	w.opts.OnEvent(eventOf(what, l.Object, nil))
	w.finish()
}

// forget takes an object off the list; the lock is held.
func (w *waiter) forget(uid string) {
	w.awaited[uid].over = true
	delete(w.awaited, uid)
	for _, c := range w.cascades {
		c.forget(uid)
	}
}

// over reports whether everything was sent and nothing is left.
func (w *waiter) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.allSent && len(w.awaited) == 0
}

// finish ends the wait if nothing is left and nothing will be added; the lock is held.
func (w *waiter) finish() {
	if !w.allSent || len(w.awaited) > 0 {
		return
	}
	select {
	case <-w.done:
	default:
		close(w.done)
	}
}

// listed takes what a list has not shown out of what is waited for.
func (w *waiter) listed(c cluster.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for uid, l := range w.awaited {
		if within(l.Object, c.ResumePoint) && !c.Relisted[uid] {
			w.moved()
			w.gone(uid)
		}
	}
}

func within(ref graph.Ref, p cluster.ResumePoint) bool {
	return ref.Resource == p.Type.Resource && ref.Group() == p.Type.Group &&
		(p.Namespace == "" || p.Namespace == ref.Namespace)
}

// sent says that all deletes were sent. What is not expected to go is not waited for any more; nil
// expects everything.
func (w *waiter) sent(expected map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if expected != nil {
		for uid := range w.awaited {
			if !expected[uid] {
				w.forget(uid)
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
	l, ok := w.awaited[uid]
	if !ok {
		return waited{}, false
	}
	return *l, true
}
