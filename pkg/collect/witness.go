package collect

import (
	"maps"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
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
