package collect

import (
	"maps"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

const (
	// excusedFor is for how long at most the deletion of an owner that was seen explains why a
	// dependent has lost it. The events of one type may be behind those of another.
	excusedFor = time.Minute
	// mostWitnessed is how many deletions of objects without dependents are remembered between two
	// passes.
	mostWitnessed = 10_000
)

// deletion is the DELETED event of an object. It proves that the object is gone, since a uid is
// never used again, for as long as that is believed; what a list leaves out proves nothing.
// Upstream's absentOwnerCache remembers the same without a bound.
type deletion struct {
	group, kind, namespace, name string
	// crd is the name of the CRD that defined its type then; empty if none was held. As long as
	// that is absent, the object is: an etcd that is restored brings back both.
	crd string
	// missing says that there was no event: a list does not show the object any more, and it was
	// held before.
	missing bool
	// pass is the number of the last pass that had begun.
	pass int
	at   time.Time
}

// witness records that an object was seen to be deleted: that its dependents have lost an owner is
// then no surprise, and it is proven without a read when its type is not served any more.
func (l *Loop) witness(c cluster.Change) {
	t, o := c.ResumePoint.Type, c.Object
	l.mu.Lock()
	l.witnessed[o.UID] = deletion{group: t.Group, kind: t.Kind, namespace: o.Namespace, name: o.Name, crd: c.Definition,
		pass: l.passes, at: time.Now()}
	many := len(l.witnessed) > mostWitnessed
	l.mu.Unlock()
	if many {
		l.forgetWitnessed(l.store.Referenced)
	}
}

// missing records the objects that a list does not show any more. They were alive while the loop
// watched, so that their dependents are not those of a backup that is restored; it proves nothing
// else.
func (l *Loop) missing(c cluster.Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, uid := range c.Missing {
		if _, seen := l.witnessed[uid]; !seen {
			l.witnessed[uid] = deletion{missing: true, pass: l.passes, at: time.Now()}
		}
	}
}

// forgetWitnessed drops the deletions of objects that have no dependents any more. A deletion that
// was seen excuses what is left of its dependents, and not those that are restored later.
func (l *Loop) forgetWitnessed(referenced func(uid string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.witnessed, func(uid string, d deletion) bool {
		return (d.pass+1 < l.passes || time.Since(d.at) > excusedFor || len(l.witnessed) > mostWitnessed) && !referenced(uid)
	})
}

// recent returns whether it is believed without another proof.
func (d deletion) recent() bool { return time.Since(d.at) < believed }

// sawDeleted returns whether the deletion of the owner that a reference names was seen a moment
// ago.
func (l *Loop) sawDeleted(owner ownerKey) bool {
	d, saw := l.deletionOf(owner)
	return saw && d.recent()
}

// deletionOf returns the deletion of the owner that a reference names, if that was seen. All that
// the reference says has to be what was deleted: another API can show the same object under the
// same uid, and show it as deleted when it is only hidden (GC-032).
func (l *Loop) deletionOf(owner ownerKey) (deletion, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d, seen := l.witnessed[owner.uid]
	return d, seen && !d.missing && d.name == owner.name && d.kind == owner.kind &&
		d.group == (graph.Ref{APIVersion: owner.apiVersion}).Group() &&
		(d.namespace == "" || d.namespace == owner.namespace)
}

// ownerKey is what a reference says of its owner, resolved in the namespace of the dependent.
func (p *pass) ownerKey(e graph.Edge) ownerKey {
	return ownerKey{e.APIVersion, e.Kind, p.graph.Namespace(e.Dependent), e.Name, p.graph.Ref(e.Owner).UID}
}

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
