package act

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/change"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

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

// lastLook looks when the time is up, so that nothing is said to be left that is gone. It says
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

// undefined says whether what is waited for cannot be read because the definition of its type is
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
