package collect

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// ReadOwners reads live what the references of some objects name and a listing does not show alive
// there, as a pass of the loop does before it acts: that an owner is absent takes a read (RO-004).
// In a listing of one namespace, an owner that is absent where its reference says is looked for in
// all types of the others. It reads also where that cannot change what the collector does. An
// object that is being deleted is not looked at: it goes, whatever its references say. It writes
// nothing. The error is for what every request would meet, or of a context that ended; an owner
// that cannot be read is Unknown in Proven, and a gap in Unread.
func ReadOwners(ctx context.Context, client *cluster.Client, listing *selection.Snapshot,
	of func(graph.ID) bool) (*Snapshot, error) {
	p := newPass(New(client, Options{List: listing.Options}), client, listing)
	p.anyType = true
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(client.Concurrency())
	for i := range p.graph.Len() {
		id := graph.ID(i)
		if !p.graph.Observed(id) || p.graph.DeletionTimestamp(id) != 0 || !of(id) {
			continue
		}
		for e := range p.graph.Owners(id) {
			if !p.open(e) {
				continue
			}
			group.Go(func() error {
				state := p.prove(reading, e)
				p.change(func(o *plan.Projection) { o.Prove(e, state) })
				return context.Cause(reading)
			})
		}
	}
	if err := errors.Join(group.Wait(), p.err); err != nil {
		return nil, err
	}
	return p.snapshot(p.projection.Proven()), nil
}

// open says whether a live read can tell more of the owner that a reference names than the listing.
func (p *pass) open(e graph.Edge) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.projection.OwnerState(e) {
	case plan.Solid, plan.Waiting, plan.Passing, plan.Orphaning, plan.BadScope:
		return false
	}
	return p.resolvable(e)
}
