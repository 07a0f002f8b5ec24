package collect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

const (
	// DefaultSettle is how long Watch waits for more changes before it looks at those that it has
	// heard of. It is long enough for a tool that restores objects one after the other.
	DefaultSettle = 500 * time.Millisecond
	// mostSettles is how many times that Watch waits at most while changes keep coming.
	mostSettles = 10
)

// Watch runs the loop, and again whenever something changes that can give it work, until enough
// says so of what a run has left, or the context ends, which is the error then. Its first pass
// lists; from there on it watches all types that it has listed, and later passes begin with what
// the watches have shown (cluster.Store). A type that may not be watched is listed every now and
// then, and so is the scope of an owner before it is released (recheck).
//
// A pass looks at the objects that events have touched, and at what depends on them, as the
// collector does (GC-023 to GC-027); at all there is where a type has come or gone or was listed
// again, where something could not be listed or read, and if enough is given. The Result is of all
// there is.
//
// After its first listing it goes on when the server does not answer (Options.Retry), and, if there
// is an Options.Paused, when a pass is refused because owners are gone all at once: nothing of that
// pass is written. It ends where that cannot help: credentials that are refused, a server that for
// half a minute lets nothing be listed, or neither listed nor watched. Options.Agree is asked about
// what comes up after the first run.
func (l *Loop) Watch(ctx context.Context, enough func(*Result) bool) (*Result, error) {
	last, err := l.watch(ctx, enough, enough != nil)
	return last, err
}

// watch is Watch. With whole each pass looks at all there is.
func (l *Loop) watch(ctx context.Context, enough func(*Result) bool, whole bool) (*Result, error) {
	l.bound = l.explicit
	l.due, l.lost.first = newDue(), l.passes+1
	l.store = l.client.NewStore(ctx, l.opts.List, func(change cluster.Change) { l.hear(change, whole) })
	defer func() {
		l.store.Close()
		l.store, l.due, l.lost, l.served = nil, nil, losses{}, served{}
	}()
	var last *Result
	paused := pauses{tell: l.opts.Paused}
	wait := backoff{least: l.opts.Retry, most: l.opts.RetryMost}
	undone := wait
	var refused refusals
	for {
		s, err := l.run(ctx)
		if err == nil {
			err = nothingListed(s)
		}
		most, all := time.Duration(0), true // for how long a change is waited for, and whether all is due then
		again := l.answered && ctx.Err() == nil && refused.mayPass(err)
		if s != nil {
			last = s
		}
		switch {
		case again:
			paused.because("unreachable", err)
			if err := wait.failed(ctx); err != nil {
				return l.whole(ctx, last), err
			}
			continue
		case l.opts.Paused != nil && paused.refused(err):
			most = wait.longest() // the owner loss may be one for a while only
		case err != nil || enough != nil && enough(s):
			return l.whole(ctx, last), err
		default:
			paused.over()
			if !onlyForbidden(s.Gaps) || !onlyForbidden(s.Unread) {
				most = wait.longest() // what could not be listed or read may be seen then
			}
			left := l.undone(s)
			if !s.again {
				l.due.done(left)
			}
			if !s.again && len(left) == 0 {
				undone.reset()
			} else if step := undone.step(); most == 0 || step < most {
				most, all = step, false // whether or not an event comes
			}
		}
		wait.reset()
		l.store.Follow()
		heard, err := l.due.wait(ctx, l.store.Ended(), l.opts.Settle, most)
		if err != nil {
			return l.whole(ctx, last), err
		}
		if !heard && all {
			l.due.addAll()
		}
		clear(l.failed) // what was refused before may be taken now
	}
}

// undone returns the uids of the objects that a run has left because something was refused: a
// write, or the read of an owner. A server that has just started refuses for a moment what it
// permits.
func (l *Loop) undone(s *Result) []string {
	uids := slices.Collect(maps.Keys(l.failed))
	if len(s.Unread) == 0 {
		return uids
	}
	for _, o := range s.NotDeleted {
		if o.Because.Code == plan.OwnerUnresolved || o.Because.Code == plan.NotDone {
			uids = append(uids, s.Graph.Ref(o.Object).UID)
		}
	}
	return uids
}

// hear takes a change into account that the store has seen. With whole, what is left counts: an
// object that is being deleted, or is gone, changes that although it may give nothing work.
func (l *Loop) hear(c cluster.Change, whole bool) {
	switch {
	case c.Object == nil:
		l.missing(c)
		l.due.addAll()
		return
	case c.Gone:
		l.witness(c)
	}
	due := touched(c, l.store)
	counts := len(due) > 0 || c.Gone || c.Object.DeletionTimestamp != 0
	if whole && counts || c.Object.UID == "" || cluster.DefinesTypes(c.ResumePoint.Type) {
		l.due.addAll()
	} else {
		l.due.add(due...)
	}
}

// held is what a watch asks of a store about what events have shown before.
type held interface {
	// Lookup returns an object by its uid; see cluster.Store.
	Lookup(uid, kind string) (graph.Type, graph.Object, bool)
	// Referenced says whether an object names an owner with the uid.
	Referenced(uid string) bool
}

// touched returns the uids of the objects that an event of an object gives work to (GC-023 to
// GC-027): the object itself, and owners of it that wait for their dependents. Most events give
// none: a status changes, or an object is created whose owners are all there.
func touched(c cluster.Change, known held) []string {
	o, before := c.Object, c.Before
	var due []string
	if !c.Gone && !unlike(o, before) {
		return nil
	}
	switch {
	case c.Gone:
		if known.Referenced(o.UID) || absentOwner(o, known) { // a pass may have been refused for its owner loss
			due = append(due, o.UID)
		}
	case before != nil, waiting(o) != "", known.Referenced(o.UID), !owned(c.ResumePoint.Type, o, known):
		due = append(due, o.UID)
	}
	owners := o.Owners
	if before != nil {
		owners = slices.Concat(owners, before.Owners)
	}
	for _, r := range owners {
		if _, owner, there := known.Lookup(r.UID, r.Kind); there && owner.DeletionTimestamp != 0 &&
			!slices.Contains(due, r.UID) {
			due = append(due, r.UID)
		}
	}
	return due
}

// unlike says whether an object is not what the collector took it for. Before is nil for one that
// is new.
func unlike(o, before *graph.Object) bool {
	return before == nil || waiting(o) != waiting(before) || o.Selected != before.Selected ||
		!slices.Equal(o.Owners, before.Owners)
}

// waiting returns the finalizer of the collector because of which an object that is being deleted
// waits for its dependents; empty for all others.
func waiting(o *graph.Object) string {
	if o.DeletionTimestamp == 0 {
		return ""
	}
	for _, f := range []string{plan.OrphanFinalizer, plan.ForegroundFinalizer} {
		if slices.Contains(o.Finalizers, f) {
			return f
		}
	}
	return ""
}

// absentOwner says whether an object has an owner that is not held.
func absentOwner(o *graph.Object, known held) bool {
	return slices.ContainsFunc(o.Owners, func(r graph.OwnerReference) bool {
		_, _, there := known.Lookup(r.UID, r.Kind)
		return !there
	})
}

// owned says whether all owners of an object are there, under the names that the references have,
// and are not being deleted. It is so of an object without references.
func owned(t graph.Type, o *graph.Object, known held) bool {
	for _, r := range o.Owners {
		of, owner, there := known.Lookup(r.UID, r.Kind)
		switch {
		case !there, owner.DeletionTimestamp != 0, owner.Name != r.Name, of.Kind != r.Kind,
			of.Group != (graph.Ref{APIVersion: r.APIVersion}).Group(),
			of.Namespaced && (!t.Namespaced || owner.Namespace != o.Namespace):
			return false
		}
	}
	return true
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

// allows says whether the pass may write to an object.
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

// DefaultRediscover is how long Watch goes by what discovery has answered. The collector asks again
// as often.
const DefaultRediscover = 30 * time.Second

// served is what discovery has answered last.
type served struct {
	client  *cluster.Client
	catalog *cluster.Catalog
	at      time.Time
}

// fromStore begins a pass with what is held of the cluster, or around what is due.
func (l *Loop) fromStore(ctx context.Context) (*pass, error) {
	around, part := l.due.take()
	if err := l.discover(ctx, part); err != nil {
		return nil, &listError{err}
	}
	return l.held(ctx, around)
}

// held begins a pass with what is held around some objects, or with all of it if around is nil.
// What has ended the store ends the loop.
func (l *Loop) held(ctx context.Context, around []string) (*pass, error) {
	listing, err := selection.ListStore(ctx, l.served.client, l.served.catalog, l.store, around)
	select {
	case err := <-l.store.Ended():
		return nil, err
	default:
	}
	if err != nil {
		return nil, &listError{err}
	}
	p := newPass(l, l.served.client, listing)
	if listing.Part {
		p.part, p.result.part = newPart(p.graph, around), true
	}
	return p, nil
}

// discover asks what the server serves, before a pass over a part not each time: a type that is
// defined or served anew is an event.
func (l *Loop) discover(ctx context.Context, part bool) error {
	every := l.opts.Rediscover
	if every <= 0 {
		every = DefaultRediscover
	}
	if part && l.served.client != nil && time.Since(l.served.at) < every {
		return nil
	}
	client := l.client.WithFreshDiscovery()
	catalog, err := client.Discover(ctx)
	if err != nil {
		return err
	}
	l.served = served{client, catalog, time.Now()}
	return nil
}

// sees says whether the listing began after an owner was seen to wait for its dependents; if not,
// the next one will. What a store holds shows the owner, and before it is released its dependents
// are listed (recheck).
func (p *pass) sees(id graph.ID) bool { return p.loop.store != nil || p.loop.sees(p.graph.Ref(id).UID) }

// expect has the next pass wait until the store has heard of a write.
func (p *pass) expect(id graph.ID) {
	if p.loop.store == nil {
		return
	}
	ref := p.graph.Ref(id)
	if t, ok := p.graph.Type(id); ok {
		p.loop.store.Expect(t, ref.Namespace, ref.UID, p.graph.ResourceVersion(id))
	}
}
