package collect

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// deletion is the DELETED event of an object. It proves for ever that the object is gone, since a uid is never used again; what a list leaves out
// proves nothing. Upstream's absentOwnerCache remembers the same.
type deletion struct {
	group, kind, namespace, name string
	// pass is the number of the last pass that had begun.
	pass int
}

// witness records that an object was seen to be deleted: that its dependents have lost an owner is then no surprise, and it is proven without a read
// when its type is not served any more.
func (l *Loop) witness(c cluster.Change) {
	t, o := c.ResumePoint.Type, c.Object
	l.mu.Lock()
	defer l.mu.Unlock()
	l.witnessed[o.UID] = deletion{t.Group, t.Kind, o.Namespace, o.Name, l.passes}
}

// sawDeleted says whether the deletion of the owner that a reference names was seen. All that the reference says has to be what was deleted: another API can
// show the same object under the same uid, and show it as deleted when it is only hidden (GC-032).
func (l *Loop) sawDeleted(owner ownerKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	d, seen := l.witnessed[owner.uid]
	return seen && d.name == owner.name && d.kind == owner.kind && d.group == (graph.Ref{APIVersion: owner.apiVersion}).Group() &&
		(d.namespace == "" || d.namespace == owner.namespace)
}

// ownerKey is what a reference says of its owner, resolved in the namespace of the dependent.
func (p *pass) ownerKey(e graph.Edge) ownerKey {
	return ownerKey{e.APIVersion, e.Kind, p.graph.Ref(e.Dependent).Namespace, e.Name, p.graph.Ref(e.Owner).UID}
}
