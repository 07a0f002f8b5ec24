package collect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
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

	// turn is the one in which what is due is looked at.
	turn plan.Turn

	mu         sync.Mutex
	projection *plan.Projection
	// putOff is what is looked at in the next turn, and finishing are owners that have nothing left
	// to wait for.
	putOff, finishing []graph.ID
	live              map[graph.ID]string
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
	return &pass{
		loop: l, client: client, catalog: listing.Catalog, graph: g,
		projection: plan.NewProjection(g, plan.Options{Rules: plan.Loop, Overrides: l.opts.Overrides, Early: l.isEarly(g)}),
		live:       map[graph.ID]string{}, orphaned: map[graph.ID]bool{},
		instead: map[int]graph.Ref{},
		slots:   make(chan struct{}, client.Concurrency()),
		result:  Result{Listing: Listing{Graph: g, Gaps: listing.Gaps}, ResumePoints: listing.ResumePoints},
	}
}

// isEarly returns a function that says of an owner whether it waited in the foreground before the
// loop began. The graph is of the first listing, or of a later one.
func (l *Loop) isEarly(g *graph.Graph) func(uid string) bool {
	if l.early == nil {
		l.early = map[string]bool{}
		for id := range g.IDs() {
			uid, waits := g.Ref(id).UID, slices.Contains(g.Finalizers(id), plan.ForegroundFinalizer)
			if waits && g.State(id) == graph.Deleting && !slices.Contains(l.opts.Waiting, uid) {
				l.early[uid] = true
			}
		}
	}
	return func(uid string) bool { return l.early[uid] }
}

// run looks at every object that something may be due to, and at what follows from that.
func (p *pass) run(ctx context.Context) error {
	for id := range p.graph.IDs() {
		if p.projection.Candidate(id) {
			p.projection.Enqueue(id)
		}
	}
	p.enqueueLate()
	for p.goesOn(ctx) && (p.wave(ctx) || p.finish(ctx) || p.goesOn(ctx) && p.breakDeadlock(ctx)) {
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return p.err
}

// goesOn reports whether nothing has ended the pass early.
func (p *pass) goesOn(ctx context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return ctx.Err() == nil && p.err == nil
}

// wave looks at what is due, turn by turn, and reports whether anything was. What it brings about
// is due in the next.
func (p *pass) wave(ctx context.Context) bool {
	p.mu.Lock()
	due := slices.DeleteFunc(p.projection.Drain(), func(id graph.ID) bool { return !p.allows(id) })
	p.mu.Unlock()
	work := len(due) > 0
	for _, p.turn = range plan.Turns {
		alone, together := plan.OneByOne(p.graph, due)
		p.each(ctx, together, p.attempt)
		for _, id := range alone {
			if p.goesOn(ctx) {
				p.attempt(ctx, id)
			}
		}
		due, p.putOff = p.putOff, nil
		slices.Sort(due)
	}
	return work
}

// finish releases the owners that have nothing left to wait for, and reports whether there were
// any.
func (p *pass) finish(ctx context.Context) bool {
	slices.Sort(p.finishing)
	now := slices.Compact(p.finishing)
	p.finishing = nil
	p.each(ctx, now, func(ctx context.Context, id graph.ID) {
		p.mu.Lock()
		o := p.projection
		orphans, released := o.Orphans(id), o.Waits(id) && !o.Blocked(id)
		p.mu.Unlock()
		switch {
		case orphans:
			p.complete(ctx, id, plan.OrphanFinalizer, plan.Orphaned)
		case released:
			p.complete(ctx, id, plan.ForegroundFinalizer, plan.NoBlockers)
		}
	})
	return len(now) > 0
}

// each calls f for some objects, several at a time, and returns when it has returned for all.
func (p *pass) each(ctx context.Context, ids []graph.ID, f func(context.Context, graph.ID)) {
	var all sync.WaitGroup
	for _, id := range ids {
		if !p.goesOn(ctx) {
			break
		}
		p.slots <- struct{}{}
		all.Go(func() {
			defer func() { <-p.slots }()
			f(ctx, id)
		})
	}
	all.Wait()
}

// later has an object looked at in the next turn.
func (p *pass) later(id graph.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.putOff = append(p.putOff, id)
}

// attempt does for one object what the collector's workers do (attemptToDelete, attemptToOrphan).
func (p *pass) attempt(ctx context.Context, id graph.ID) {
	uid := p.graph.Ref(id).UID
	if p.loop.givenUp(uid) {
		return
	}
	if !p.loop.actsOn(uid) {
		if !p.gone(id) { // owners may have orphaned it meanwhile
			p.removeLateOwnerRefs(ctx, id)
		}
		return
	}
	p.mu.Lock()
	o := p.projection
	looks, gone, deleting, orphans := p.turn.LooksAt(o, id), o.Gone(id), o.Deleting(id), o.Orphans(id)
	if looks && o.Waits(id) && !o.Blocked(id) {
		p.finishing = append(p.finishing, id)
	}
	p.mu.Unlock()
	switch {
	case gone:
	case !looks:
		p.later(id)
	case orphans:
		p.orphan(ctx, id)
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
	p.err = cmp.Or(p.err, err)
}

// part is what a pass looks at: the objects that are due, all that depends on them, and what is
// being deleted, of which a listing around them has all dependents (cluster.Store.List). Other
// objects are evidence only. Nil is all there is.
type part map[graph.ID]bool

// newPart returns the part that is due.
func newPart(g *graph.Graph, due []string) part {
	of := part{}
	var open []graph.ID
	add := func(id graph.ID) {
		if !of[id] {
			of[id] = true
			open = append(open, id)
		}
	}
	for _, uid := range due {
		if id, ok := g.Lookup(uid); ok {
			add(id)
		}
	}
	for id := range g.IDs() {
		if g.DeletionTimestamp(id) != 0 {
			add(id)
		}
	}
	for len(open) > 0 {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		for e := range g.Dependents(id) {
			add(e.Dependent)
		}
	}
	return of
}

// allows reports whether the pass may write to an object.
func (p *pass) allows(id graph.ID) bool {
	return (p.part == nil || p.part[id]) && p.loop.allows(p.graph, id)
}

// reportFor is how long Watch takes at most, when it has ended, to find out what is left of all
// there is.
const reportFor = 2 * time.Second

// whole returns what a watch that has ended leaves: of all that the store holds, and not of the
// part that the last pass has looked at.
func (l *Loop) whole(ctx context.Context, last *Result) *Result {
	if last == nil || !last.part {
		return last
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportFor)
	defer cancel()
	p, err := l.held(ctx, nil)
	if err == nil {
		err = p.readOwners(ctx)
	}
	if err != nil {
		last.Gaps = append(last.Gaps, v1alpha1.Gap{Resource: "*", Reason: v1alpha1.GapUnavailable,
			Message: fmt.Sprintf("finding out what is left: %v", err)})
		return last
	}
	p.result.Unread = p.unread.besides(p.result.Gaps)
	p.result.NotDeleted = p.projection.NotDeleted(p.allows)
	return &p.result
}
