package collect

import (
	"context"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// A dependent can be created after the last listing before its owner was released. The collector
// deletes it. But whoever deleted the owner wanted its dependents to live on, so the loop remembers
// the owner until a listing that began later shows no dependent (P-05).

// hasOrphaned records that the orphan finalizer of an owner was removed after its dependents were
// orphaned.
func (l *Loop) hasOrphaned(uid string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.orphaned[uid] = time.Now()
}

// enqueueLate has the late dependents looked at, and forgets the owners that have none. It is
// called before the workers begin.
func (p *pass) enqueueLate() {
	l := p.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	for uid, at := range l.orphaned {
		id, referenced := p.graph.Lookup(uid)
		if !referenced || p.graph.DependentCount(id) == 0 {
			over := l.store == nil || time.Since(at) > lostFor && !l.store.Referenced(uid) // a watch may be behind
			if over && len(p.result.Gaps) == 0 {
				delete(l.orphaned, uid)
			}
			continue
		}
		for e := range p.graph.Dependents(id) {
			p.projection.Enqueue(e.Dependent)
		}
	}
}

// removeLateOwnerRefs removes references to owners that have orphaned their dependents from a late
// one, and says whether it had any.
func (p *pass) removeLateOwnerRefs(ctx context.Context, id graph.ID) bool {
	var late []graph.Edge
	p.mu.Lock()
	p.loop.mu.Lock()
	for e := range p.projection.Owners(id) {
		if _, orphaned := p.loop.orphaned[p.graph.Ref(e.Owner).UID]; orphaned && !p.projection.Orphans(e.Owner) {
			late = append(late, e)
		}
	}
	p.loop.mu.Unlock()
	p.mu.Unlock()
	if len(late) == 0 {
		return false
	}
	p.removeOwnerRefs(ctx, id, late, plan.OwnerOrphans, p.graph.Ref(late[0].Owner))
	return true
}

// gone says whether an object was seen to be gone.
func (p *pass) gone(id graph.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.projection.Gone(id)
}
