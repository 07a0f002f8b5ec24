package collect

import (
	"context"
	"slices"
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
// one, and reports whether it had any.
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

// gone reports whether an object was seen to be gone.
func (p *pass) gone(id graph.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.projection.Gone(id)
}

// actsOn reports whether the loop acts on an object for its own sake, and not only as a dependent
// of one that it acts on.
func (l *Loop) actsOn(uid string) bool { return l.opts.Only == nil || l.opts.Only[uid] }

const (
	// lostFor is for how long a watch remembers the owners that were gone when it heard of them
	// first.
	lostFor = 10 * time.Minute
	// mostLost is how many it remembers at most; it takes far fewer to trip the breaker.
	mostLost = 1000
)

// losses are owners that a loop has heard of only when they were gone, although it watches: neither
// a listing nor a watch has shown them alive, and dependents of theirs come up all the same. A
// backup that is restored slowly is one owner loss over many passes.
type losses struct {
	// first is the number of the watch's first pass: what was gone then was agreed to.
	first  int
	recent []loss
}

type loss struct {
	plan.LostOwner
	at time.Time
}

func (s *losses) owners() []plan.LostOwner {
	var owners []plan.LostOwner
	for _, o := range s.recent {
		if time.Since(o.at) < lostFor {
			owners = append(owners, o.LostOwner)
		}
	}
	return owners
}

// remember keeps the owners that a pass of a watch has lost unexpectedly, for the passes to come.
// What its first pass had lost was agreed to.
func (l *Loop) remember(p *Proposal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.lost
	if l.store == nil || l.passes == s.first {
		return
	}
	now := time.Now()
	s.recent = slices.DeleteFunc(s.recent, func(o loss) bool { return now.Sub(o.at) >= lostFor })
	known := func(uid string) bool {
		_, shown := l.witnessed[uid]
		return shown || l.expected(uid) || slices.ContainsFunc(s.recent, func(o loss) bool { return o.UID == uid })
	}
	for _, o := range p.Plan.LostOwners(known) {
		if len(s.recent) < mostLost {
			s.recent = append(s.recent, loss{o, now})
		}
	}
}
