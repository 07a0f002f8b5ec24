package collect

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// deletion is the DELETED event of an object. It proves for ever that the object is gone, since a uid is never used again; what a list leaves out
// proves nothing (T-03). Upstream's absentOwnerCache remembers the same (GC-030).
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
