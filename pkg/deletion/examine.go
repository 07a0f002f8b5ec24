package deletion

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Examined is what there is to know of a plan of collect besides what it learns.
type Examined struct {
	// Known is what is known of finalizers; nil if nothing waits for one.
	Known *finalizer.Registry
	// Unfinished says why deletions would not complete, and Unjudged is that of a Planned; empty if
	// there is nothing to say.
	Unfinished, Unjudged string
}

// Examine has a plan that collect made learn what a plan of a deletion learns, and tells the rest.
// The plan does the same as before. Who creates objects again is not looked for: owners that are
// absent do not tell. It ends with ctx.
func Examine(ctx context.Context, client *cluster.Client, known func() (*finalizer.Registry, error),
	p *plan.Plan) (Examined, error) {
	catalog, err := client.Discover(ctx)
	if err != nil {
		return Examined{}, err
	}
	pl, err := newPlanner(client, catalog, Request{GC: ClientGC, Known: known})
	if err != nil {
		return Examined{}, err
	}
	reader := cluster.NewReader(pl.client, catalog)
	all := p.Released()
	apis, err := findUnserved(ctx, reader, all)
	if err != nil {
		return Examined{}, err
	}
	hooks, err := findUnhooked(ctx, reader, all)
	if err != nil {
		return Examined{}, err
	}
	needs, err := findActors(ctx, reader, pl.known, all)
	if err != nil {
		return Examined{}, err
	}
	details, err := readDetails(ctx, pl.client, all)
	if err != nil {
		return Examined{}, err
	}
	planned := &Planned{Plan: all, planner: pl, unserved: apis.services, unhooked: hooks}
	if err := pl.learnMore(ctx, reader, planned, &details); err != nil {
		return Examined{}, err
	}
	p.Learn(details)
	return Examined{planned.Known, unreleased(p.Graph, needs),
		unjudged(ctx, reader, p, func(plan.Action) bool { return true })}, nil
}

// unreleased says which object keeps a finalizer because each controller that removes it is deleted;
// empty if none does.
func unreleased(g *graph.Graph, needs plan.Needs) string {
	if len(needs) == 0 {
		return ""
	}
	first := slices.Min(slices.Collect(maps.Keys(needs)))
	return fmt.Sprintf("nobody removes the finalizers of %s once %s is deleted", g.Ref(first).Located(),
		g.Ref(needs[first][0][0][0]).Located())
}

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
	hooks, err := findUnhooked(ctx, reader, p.Plan)
	if err != nil {
		return err
	}
	p.releases = merged(needs, needed, backends)
	p.needs, p.unserved, p.unhooked = merged(p.releases, apis.needs), apis.services, hooks
	refused := maps.Clone(hooks.refused)
	maps.Copy(refused, apis.refused)
	p.Plan = p.Without(refused)
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
