package collect

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Survey is what a run is planned from: a listing, and what live reads have shown of the owners that it does not show alive.
type Survey struct {
	Graph *graph.Graph
	Gaps  []v1alpha1.Gap
	// Unread is what could not be read live; see Summary.
	Unread    []v1alpha1.Gap
	Positions []cluster.Position
	// Proven are the states of those owners, by the Index of the reference.
	Proven map[int]plan.OwnerState
}

// Survey lists and reads, and writes nothing. What it has found out of owners that are gone the loop need not find out again.
func (l *Loop) Survey(ctx context.Context) (*Survey, error) {
	p, err := l.list(ctx)
	if err != nil {
		return nil, err
	}
	err = p.survey(ctx)
	return p.surveyed(p.overlay.Proven()), err
}

// surveyed is what the pass has listed and read so far.
func (p *pass) surveyed(proven map[int]plan.OwnerState) *Survey {
	return &Survey{
		Graph: p.graph, Gaps: p.summary.Gaps, Unread: p.unread.besides(p.summary.Gaps), Positions: p.summary.Positions, Proven: proven,
	}
}

// survey reads the owners of all objects that there is anything to judge of.
func (p *pass) survey(ctx context.Context) error {
	var candidates []graph.ID
	for i := range p.graph.Len() {
		if id := graph.ID(i); p.overlay.Candidate(id) && !p.overlay.Deleting(id) && p.loop.may(p.graph, id) {
			candidates = append(candidates, id)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.client.Concurrency())
	for _, id := range candidates {
		group.Go(func() error {
			p.judge(ctx, id)
			return context.Cause(ctx)
		})
	}
	return errors.Join(group.Wait(), p.err)
}
