package collect

import (
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

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
