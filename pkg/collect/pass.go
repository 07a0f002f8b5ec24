package collect

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// pass is the work that one listing gives.
type pass struct {
	loop    *Loop
	client  *cluster.Client
	catalog *cluster.Catalog
	graph   *graph.Graph
	part    part
	// slots are taken by those who work, each of whom has one request in flight at most.
	slots     chan struct{}
	elsewhere elsewhere
	// anyType also looks for owners elsewhere whose references have the wrong kind.
	anyType bool
	unread  unread
	recheck recheck

	// cycles is locked while a member of an ownership cycle is decided about and deleted: two at a
	// time would wait for each other forever (GC-064).
	cycles sync.Mutex

	mu         sync.Mutex
	done       sync.Cond // somebody has finished
	projection *plan.Projection
	working    map[graph.ID]bool // true: has to be looked at again afterwards
	live       map[graph.ID]string
	// orphaned are the owners whose dependents were patched in this pass: only a listing that
	// begins later shows whether it was all of them.
	orphaned map[graph.ID]bool
	// instead are what live reads have shown in place of owners, by the Index of the reference.
	instead map[int]graph.Ref
	err     error
	result  Result
}

func newPass(l *Loop, client *cluster.Client, listing *selection.Snapshot) *pass {
	g := listing.Graph
	p := &pass{
		loop: l, client: client, catalog: listing.Catalog, graph: g,
		projection: plan.NewProjection(g, plan.Options{Rules: plan.Loop, Overrides: l.opts.Overrides}),
		working:    map[graph.ID]bool{}, live: map[graph.ID]string{}, orphaned: map[graph.ID]bool{},
		instead: map[int]graph.Ref{},
		slots:   make(chan struct{}, client.Concurrency()),
		result:  Result{Graph: g, Gaps: listing.Gaps, ResumePoints: listing.ResumePoints},
	}
	p.done.L = &p.mu
	return p
}

// run looks at every object that something may be due to, and at what follows from that.
func (p *pass) run(ctx context.Context) error {
	for i := range p.graph.Len() {
		if id := graph.ID(i); p.projection.Candidate(id) {
			p.projection.Enqueue(id)
		}
	}
	p.enqueueLate()
	for {
		due := p.take(ctx)
		if len(due) == 0 {
			if ctx.Err() == nil && p.err == nil && p.breakDeadlock(ctx) {
				continue
			}
			break
		}
		for _, id := range due {
			p.slots <- struct{}{}
			go func() {
				defer func() { <-p.slots; p.finished(id) }()
				if ctx.Err() == nil {
					p.attempt(ctx, id)
				}
			}()
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return p.err
}

// take waits until there is something to do and returns it; nothing when all is done.
func (p *pass) take(ctx context.Context) []graph.ID {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if ctx.Err() != nil || p.err != nil {
			for len(p.working) > 0 {
				p.done.Wait()
			}
			return nil
		}
		var due []graph.ID
		for _, id := range p.projection.Drain() {
			if _, busy := p.working[id]; busy {
				p.working[id] = true
				continue
			}
			if p.allows(id) {
				p.working[id] = false
				due = append(due, id)
			}
		}
		if len(due) > 0 || len(p.working) == 0 {
			return due
		}
		p.done.Wait()
	}
}

func (p *pass) finished(id graph.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.working[id] {
		p.projection.Enqueue(id)
	}
	delete(p.working, id)
	p.done.Broadcast()
}

// attempt does for one object what the collector's workers do (attemptToDelete, attemptToOrphan).
func (p *pass) attempt(ctx context.Context, id graph.ID) {
	uid := p.graph.Ref(id).UID
	if p.loop.givenUp(uid) {
		return
	}
	if !p.loop.actsOn(uid) {
		p.alongside(ctx, id)
		return
	}
	p.mu.Lock()
	o := p.projection
	gone, deleting, orphans, waits, blocked := o.Gone(id), o.Deleting(id), o.Orphans(id), o.Waits(id), o.Waits(id) &&
		o.Blocked(id)
	p.mu.Unlock()
	switch {
	case gone:
	case orphans:
		p.orphan(ctx, id)
	case waits && !blocked:
		p.complete(ctx, id, plan.ForegroundFinalizer, plan.NoBlockers)
	case !deleting:
		p.item(ctx, id)
	}
}

// maxShared is how many work on what one has to do.
const maxShared = 16

// share calls f with the numbers below n, by the worker who calls and by others as long as there
// are slots.
func (p *pass) share(n int, f func(int)) {
	var next atomic.Int64
	work := func(before func()) {
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			before()
			f(int(i))
		}
	}
	var others sync.WaitGroup
	var hired int
	work(func() {
		for hired < maxShared-1 {
			select {
			case p.slots <- struct{}{}:
			default:
				return // all are taken
			}
			hired++
			others.Go(func() {
				defer func() { <-p.slots }()
				work(func() {})
			})
		}
	})
	others.Wait()
}

// change changes the projection.
func (p *pass) change(f func(*plan.Projection)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p.projection)
}

// again asks for another pass: its listing will tell what this one cannot.
func (p *pass) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result.again = true
}

// fail ends the pass; the first error counts.
func (p *pass) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}
