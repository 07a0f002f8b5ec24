package deletion

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// foresee finds out what of a plan nobody does any more once it is carried out: which finalizers
// nobody removes, which namespaces the namespace controller does not finish, and which objects
// nobody can delete.
func (pl *planner) foresee(ctx context.Context, reader *cluster.Reader, known *finalizer.Registry, p *Planned) error {
	needs, err := findActors(ctx, reader, known, p.Plan)
	if err != nil {
		return err
	}
	needed, err := findNeeded(ctx, pl.client, reader, known, p.Plan)
	if err != nil {
		return err
	}
	backends, err := findBackends(ctx, reader, p.Plan)
	if err != nil {
		return err
	}
	apis, err := findUnserved(ctx, reader, p.Plan)
	if err != nil {
		return err
	}
	p.releases = merged(needs, needed, backends)
	p.needs, p.unserved = merged(p.releases, apis.needs), apis.services
	p.Plan = p.Without(apis.refused)
	return nil
}

// merged are all needs of some.
func merged(all ...plan.Needs) plan.Needs {
	needs := plan.Needs{}
	for _, more := range all {
		for id, removers := range more {
			needs[id] = slices.Concat(needs[id], removers)
		}
	}
	return needs
}
