package act

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// keep stops waiting for what programs were to delete because of links and have left alone: all
// that was to have it deleted was seen to be gone, which it is once the programs have removed their
// finalizers; the object was read a while after that and is not being deleted, since some programs
// delete a little later, as Crossplane replays a deletion; and nothing else of the plans deletes
// it. With it stays what was to go because of it.
func (r *run) keep(ctx context.Context, now time.Time) {
	var left []waited
	for _, l := range r.readDeleters(ctx, r.waiter.undeletedByLinks()) {
		if _, at := r.waiter.lastDeleter(l); !at.IsZero() && now.Sub(at) >= max(probeAfter, l.within) {
			left = append(left, l)
		}
	}
	left = r.alive(ctx, left)
	if len(left) == 0 {
		return
	}
	r.result.Kept = append(r.result.Kept, r.waiter.keep(left, r.deletedWithout(left))...)
}

// undeletedByLinks returns what programs are to delete because of links and is not being deleted,
// though nothing that is waited for is going to have it deleted any more.
func (w *waiter) undeletedByLinks() []waited {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.allSent {
		return nil
	}
	var list []waited
	for l := range w.each {
		if len(l.deleters) > 0 && !l.Deleting && !w.reached[l.Object.UID] && !w.awaitsDeleter(l) {
			list = append(list, *l)
		}
	}
	return list
}

// awaitsDeleter reports whether an object is still waited for whose deletion has programs delete
// another. The lock is held.
func (w *waiter) awaitsDeleter(l *waited) bool {
	return slices.ContainsFunc(l.deleters, func(id graph.ID) bool { return w.awaited[l.graph.Ref(id).UID] != nil })
}

// readDeleters leaves out those of the objects which something that is not waited for may still have
// deleted: it is being deleted, is to be by a plan, or could not be read.
func (r *run) readDeleters(ctx context.Context, list []waited) []waited {
	mayDelete := map[string]bool{} // as far as it was read
	return slices.DeleteFunc(list, func(l waited) bool {
		return slices.ContainsFunc(l.deleters, func(id graph.ID) bool {
			ref := l.graph.Ref(id)
			if may, read := mayDelete[ref.UID]; read || r.waiter.wasGone(ref.UID) {
				return may
			}
			now, err := objectOf(r.client, l.graph, id).Read(ctx)
			if change.IsOver(err) {
				r.waiter.noteGone(ref.UID)
			}
			mayDelete[ref.UID] = !change.IsOver(err) && (err != nil || now.DeletionTimestamp != 0 || r.goes(ref.UID))
			return mayDelete[ref.UID]
		})
	})
}

// goes reports whether a plan has an object gone in the end that is not known to stay.
func (r *run) goes(uid string) bool {
	return !slices.Contains(r.waiter.keptSoFar(), uid) && slices.ContainsFunc(r.plans, func(p *plan.Plan) bool {
		id, ok := p.Graph.Lookup(uid)
		return ok && p.End().Gone(id)
	})
}

func (w *waiter) wasGone(uid string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.goneAt[uid].IsZero()
}

func (w *waiter) noteGone(uid string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.goneAt[uid] = time.Now()
}

// lastDeleter returns which of those that were to have an object deleted was seen last to be gone,
// and when.
func (w *waiter) lastDeleter(l waited) (last graph.Ref, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range l.deleters {
		if ref := l.graph.Ref(id); w.goneAt[ref.UID].After(at) {
			last, at = ref, w.goneAt[ref.UID]
		}
	}
	return last, at
}

// alive reads objects and returns those that are there, are not being deleted, and have no owner
// that the plan does not know of.
func (r *run) alive(ctx context.Context, list []waited) []waited {
	var mu sync.Mutex
	var alive []waited
	cluster.Each(r.client, list, func(_ int, l waited) {
		now, err := objectOf(r.client, l.graph, l.id).Read(ctx)
		switch {
		case change.IsOver(err):
			r.waiter.absent(l.Object.UID)
		case err == nil:
			r.waiter.found(now)
			if now.DeletionTimestamp == 0 && !ownedAnew(l, now) {
				mu.Lock()
				defer mu.Unlock()
				alive = append(alive, l)
			}
		}
	})
	return alive
}

// ownedAnew reports whether an object has an owner that it did not have when it was planned.
func ownedAnew(l waited, now *graph.Object) bool {
	known := map[string]bool{}
	for e := range l.graph.Owners(l.id) {
		known[l.graph.Ref(e.Owner).UID] = true
	}
	return slices.ContainsFunc(now.Owners, func(o graph.OwnerReference) bool { return !known[o.UID] })
}

// deletedWithout are the uids of what the plans delete if programs leave these objects alone, and
// those that were kept before.
func (r *run) deletedWithout(left []waited) map[string]bool {
	spared := r.waiter.keptSoFar()
	for _, l := range left {
		spared = append(spared, l.Object.UID)
	}
	deleted := map[string]bool{}
	for _, p := range r.plans {
		ids := map[graph.ID]bool{}
		for _, uid := range spared {
			if id, ok := p.Graph.Lookup(uid); ok {
				ids[id] = true
			}
		}
		maps.Copy(deleted, p.Graph.UIDs(p.Sparing(ids)))
	}
	return deleted
}

func (w *waiter) keptSoFar() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.kept))
}

// keep stops waiting for what programs have left alone, but for what is deleted all the same, and
// for what is not deleted without it.
func (w *waiter) keep(left []waited, deleted map[string]bool) []KeptObject {
	by := map[string]graph.Ref{}
	for _, l := range left {
		by[l.Object.UID], _ = w.lastDeleter(l)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var kept []KeptObject
	for l := range w.each {
		if uid := l.Object.UID; !l.Deleting && !deleted[uid] {
			kept = append(kept, KeptObject{l.Object, by[uid], l.within})
		}
	}
	if len(kept) > 0 {
		clear(w.reached)
	}
	for _, k := range kept {
		w.kept[k.Object.UID] = true
		w.forget(k.Object.UID)
	}
	for uid := range by {
		if w.awaited[uid] != nil {
			w.reached[uid] = true
		}
	}
	w.finish()
	return kept
}
