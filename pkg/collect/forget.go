package collect

import (
	"maps"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// forgetGone drops what is remembered of objects that no listing will show again, so that a loop that goes on for months needs no more than its cluster does:
// objects that the listing neither shows nor refers to, and that are not hidden in a gap of it or are known to be gone.
func (l *Loop) forgetGone(g *graph.Graph, gaps []v1alpha1.Gap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	keep := func(uid string) bool {
		_, known := g.Lookup(uid)
		return known || len(gaps) > 0 && !l.proofs.isGone(uid)
	}
	for _, m := range []map[string]bool{l.waiting, l.next, l.observed, l.declined} {
		maps.DeleteFunc(m, func(uid string, _ bool) bool { return !keep(uid) })
	}
	maps.DeleteFunc(l.written, func(e effect, _ int) bool { return e.object != "" && !keep(e.object) })
	maps.DeleteFunc(l.failed, func(uid string, _ int) bool { return !keep(uid) })
	maps.DeleteFunc(l.warned, func(pair [2]string, _ bool) bool { return !keep(pair[0]) || !keep(pair[1]) })
	maps.DeleteFunc(l.own, func(uid, _ string) bool { return !keep(uid) })
	l.consent.Keep(keep)
	referenced := func(uid string) bool {
		_, known := g.Lookup(uid)
		return known
	}
	// A deletion that was seen excuses what is left of its dependents, and not those that are restored later. The events of one type may be behind
	// those of another, so that a dependent can come up one pass after its owner has gone.
	maps.DeleteFunc(l.witnessed, func(uid string, d deletion) bool { return d.pass+1 < l.passes && !referenced(uid) })
	l.proofs.keep(referenced)
}

// keep drops proofs about owners for which known, called with a uid, is false. Should a reference to one come up again, it is proven again.
func (ps *proofs) keep(known func(uid string) bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	maps.DeleteFunc(ps.gone, func(uid string, _ bool) bool { return !known(uid) })
	maps.DeleteFunc(ps.byOwner, func(c ownerKey, p *proof) bool {
		return !known(c.uid) && (p.state == plan.Absent || p.state == plan.Replaced)
	})
}
