package collect

import (
	"context"
	"errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Snapshot is what a run is planned from: a listing, and what live reads have shown of the owners
// that it does not show alive.
type Snapshot struct {
	Graph *graph.Graph
	Gaps  []v1alpha1.Gap
	// Unread is what could not be read live; see Result.
	Unread       []v1alpha1.Gap
	ResumePoints []cluster.ResumePoint
	// Proven are the states of those owners, by the Index of the reference.
	Proven map[int]plan.OwnerState
	// Instead are what a live read has shown in place of an owner, by the Index of the reference:
	// what has the name of one that was replaced, or the owner itself where it lies outside the
	// listing.
	Instead map[int]graph.Ref
}

// Snapshot lists and reads, and writes nothing. What it has found out of owners that are gone the
// loop need not find out again.
func (l *Loop) Snapshot(ctx context.Context) (*Snapshot, error) {
	p, err := l.list(ctx)
	if err != nil {
		return nil, err
	}
	err = p.readOwners(ctx)
	return p.snapshot(p.projection.Proven()), err
}

// snapshot is what the pass has listed and read so far.
func (p *pass) snapshot(proven map[int]plan.OwnerState) *Snapshot {
	return &Snapshot{
		Graph: p.graph, Gaps: p.result.Gaps, Unread: p.unread.besides(p.result.Gaps), ResumePoints: p.result.ResumePoints,
		Proven:  proven,
		Instead: p.instead,
	}
}

// readOwners reads the owners of all objects that something may be due to.
func (p *pass) readOwners(ctx context.Context) error {
	var candidates []graph.ID
	for i := range p.graph.Len() {
		if id := graph.ID(i); p.projection.Candidate(id) && !p.projection.Deleting(id) && p.allows(id) {
			candidates = append(candidates, id)
		}
	}
	err := cluster.EachUntil(ctx, p.client, candidates, func(ctx context.Context, _ int, id graph.ID) error {
		p.assess(ctx, id)
		return context.Cause(ctx)
	})
	return errors.Join(err, p.err)
}
