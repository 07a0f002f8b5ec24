package act

import (
	"context"
	"iter"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// cascade is what is waited for of one plan. The lock of its waiter guards it.
type cascade struct {
	graph *graph.Graph
	at    []place // by ID
	// list has what is waited for, in the order of the graph; what is over is removed when the list
	// is gone through.
	list []*waited
	// blocking are the references of the graph that were made to block, by index.
	blocking map[int]bool
}

// place is an object of a graph in the wait.
type place struct {
	// waited is nil if the object is not waited for, or if a later plan has it.
	waited *waited
	// awaited says that it is waited for, whichever plan has it.
	awaited bool
}

func newCascade(p *plan.Plan) *cascade {
	c := &cascade{graph: p.Graph, at: make([]place, p.Graph.Len()), list: make([]*waited, 0, len(p.Deleted)),
		blocking: map[int]bool{}}
	for _, a := range preparing(p) {
		for _, index := range a.Edges {
			c.blocking[index] = true
		}
	}
	return c
}

func (c *cascade) add(l *waited) *waited {
	c.at[l.id] = place{waited: l, awaited: true}
	c.list = append(c.list, l)
	return l
}

// count counts the owners and the blockers of what is waited for.
func (c *cascade) count(pending map[string]*waited) {
	for uid := range pending {
		if id, ok := c.graph.Lookup(uid); ok {
			c.at[id].awaited = true
		}
	}
	for l := range c.each {
		l.owners, l.blockers = 0, 0
	}
	for uid := range pending {
		id, ok := c.graph.Lookup(uid)
		if !ok {
			continue
		}
		if l := c.at[id].waited; l != nil {
			for e := range c.graph.Owners(id) {
				if c.at[e.Owner].awaited {
					l.owners++
				}
			}
		}
		for owner := range c.blocked(id) {
			owner.blockers++
		}
	}
}

// forget brings the counts up to date with an object that is not waited for any more.
func (c *cascade) forget(uid string) {
	id, ok := c.graph.Lookup(uid)
	if !ok || !c.at[id].awaited {
		return
	}
	c.at[id] = place{}
	for e := range c.graph.Dependents(id) {
		if l := c.at[e.Dependent].waited; l != nil {
			l.owners--
		}
	}
	for owner := range c.blocked(id) {
		owner.blockers--
	}
}

// blocked iterates over the owners that are waited for and that the references of an object block,
// each once.
func (c *cascade) blocked(id graph.ID) iter.Seq[*waited] {
	return func(yield func(*waited) bool) {
		var seen []graph.ID
		for e := range c.graph.Owners(id) {
			l := c.at[e.Owner].waited
			if l == nil || !e.Block && !c.blocking[e.Index] || slices.Contains(seen, e.Owner) {
				continue
			}
			seen = append(seen, e.Owner)
			if !yield(l) {
				return
			}
		}
	}
}

// each iterates over what is waited for, in the order of the graph.
func (c *cascade) each(yield func(*waited) bool) {
	c.list = slices.DeleteFunc(c.list, func(l *waited) bool { return l.over })
	slices.Values(c.list)(yield)
}

const (
	// lookAfter is for how long nothing is heard before what is left is looked at without being
	// told: a watch can be open, or be opened again and again, and tell nothing; and where it
	// begins anew with a list, what has happened to an object before is not told. One that has lost
	// its references by then would be waited for without an end. The next look is after twice as
	// long, up to lookMost.
	lookAfter = 3 * time.Second
	lookMost  = time.Minute
	// lastLookTime is how long the look may take that comes when the time is up.
	lastLookTime = 5 * time.Second
)

// quiet says when to look, by how long nothing has happened.
type quiet struct {
	next, step time.Duration
	before     time.Duration
}

func (q *quiet) due(now time.Duration) bool {
	if now < q.before || q.step == 0 { // something has happened
		q.next, q.step = lookAfter, lookAfter
	}
	q.before = now
	if now < q.next {
		return false
	}
	q.step = min(2*q.step, lookMost)
	q.next = now + q.step
	return true
}

// look finds out what has become of all that is left. What cannot be read or listed is left as it
// is.
func (r *run) look(ctx context.Context) {
	r.looking.Lock()
	points := slices.Clone(r.resumePoints)
	r.looking.Unlock()
	var group errgroup.Group
	group.SetLimit(r.client.Concurrency())
	for _, p := range points {
		left := r.waiter.within(p)
		if len(left) > readAlone {
			group.Go(func() error { r.list(ctx, p, left); return nil })
			continue
		}
		for _, l := range left {
			group.Go(func() error { _ = r.lookAt(ctx, p.Type, l.Object); return nil })
		}
	}
	_ = group.Wait() // nobody returns an error
}

// lastLook looks when the time is up, so that nothing is said to be left that is gone. It reports
// whether nothing is left.
func (r *run) lastLook(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLookTime)
	defer cancel()
	r.look(ctx)
	return r.waiter.over()
}

// list looks at the objects of a resume point that are left, in one list.
func (r *run) list(ctx context.Context, p cluster.ResumePoint, left []Blocked) {
	listed := map[string]bool{}
	_, err := r.client.ForEachMeta(ctx, p.Type, p.Namespace, func(o *graph.Object) {
		listed[o.UID] = true
		r.waiter.found(o)
	})
	if err != nil && !r.undefined(ctx, p.Type, left[0].Object.UID, err) {
		return
	}
	for _, l := range left {
		if err != nil || !listed[l.Object.UID] {
			r.waiter.absent(l.Object.UID)
		}
	}
}

// lookAt reads an object that is waited for. The error is that it could not be read.
func (r *run) lookAt(ctx context.Context, t graph.Type, ref graph.Ref) error {
	now, err := change.Object{Server: r.client, Type: t, Ref: ref}.Read(ctx)
	switch {
	case change.IsOver(err), err != nil && r.undefined(ctx, t, ref.UID, err):
		r.waiter.absent(ref.UID)
		return nil
	case err != nil:
		return err
	}
	r.waiter.found(now)
	return nil
}

// undefined reports whether what is waited for cannot be read because the definition of its type is
// gone, and it before that. The definition was seen when the deletion was planned.
func (r *run) undefined(ctx context.Context, t graph.Type, uid string, err error) bool {
	if !apierrors.IsNotFound(err) {
		return false
	}
	l, waited := r.waiter.get(uid)
	if !waited {
		return false
	}
	_, seen := cluster.DefinitionOf(l.graph, t)
	return seen && r.client.IsUndefined(ctx, t)
}
