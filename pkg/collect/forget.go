package collect

import (
	"maps"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// mostForgotten is how many more things than after the last time are remembered before a pass over
// a part forgets again.
const mostForgotten = 1000

// forgetGone drops what is remembered of objects that no listing will show again, so that a loop
// that goes on for months needs no more than its cluster does: objects that the listing neither
// shows nor refers to, and that are not hidden in a gap of it or are known to be gone.
func (l *Loop) forgetGone(p *pass) {
	known := func(uid string) bool {
		_, known := p.graph.Lookup(uid)
		return known
	}
	referenced := known
	if p.part != nil {
		referenced = l.store.Referenced
		known = func(uid string) bool {
			if referenced(uid) {
				return true
			}
			_, _, held := l.store.Lookup(uid, "")
			return held
		}
	}
	l.forgetWitnessed(referenced)
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.part != nil && l.remembered() < l.left+mostForgotten {
		return // to look each of them up costs more than the pass
	}
	keep := func(uid string) bool { return known(uid) || len(p.result.Gaps) > 0 && !l.proofs.wasRemoved(uid) }
	for _, m := range []map[string]bool{l.waiting, l.next, l.observed, l.declined} {
		maps.DeleteFunc(m, func(uid string, _ bool) bool { return !keep(uid) })
	}
	maps.DeleteFunc(l.written, func(e effect, _ int) bool { return e.object != "" && !keep(e.object) })
	maps.DeleteFunc(l.failed, func(uid string, _ int) bool { return !keep(uid) })
	maps.DeleteFunc(l.warned, func(pair [2]string, _ bool) bool { return !keep(pair[0]) || !keep(pair[1]) })
	maps.DeleteFunc(l.own, func(uid, _ string) bool { return !keep(uid) })
	l.consent.Keep(keep)
	l.proofs.keep(known)
	l.left = l.remembered()
}

// remembered is how many things are remembered of objects, but for the deletions that were seen.
// The lock is held.
func (l *Loop) remembered() int {
	return l.proofs.len() + len(l.waiting) + len(l.next) + len(l.failed) + len(l.orphaned) + len(l.warned) +
		len(l.observed) + len(l.declined) +
		len(l.written) + len(l.own) + l.consent.Len()
}

func (ps *proofs) len() int {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return len(ps.byOwner) + len(ps.gone)
}

// keep drops proofs about owners for which known, called with a uid, is false. Should a reference
// to one come up again, it is proven again.
func (ps *proofs) keep(known func(uid string) bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	maps.DeleteFunc(ps.gone, func(uid string, _ time.Time) bool { return !known(uid) })
	maps.DeleteFunc(ps.byOwner, func(c ownerKey, p *proof) bool {
		return !known(c.uid) && (p.state == plan.Absent || p.state == plan.Replaced)
	})
}
