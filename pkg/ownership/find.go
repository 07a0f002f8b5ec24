package ownership

import (
	"context"
	"errors"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Request says where links are looked for.
type Request struct {
	Graph *graph.Graph
	// Scope is the namespace that was listed; empty for everywhere.
	Scope string
	// Roots are the objects below which links are looked for.
	Roots []graph.ID
	// Foreground says which of the roots are deleted in the foreground, so that the fields in which they
	// say so are set first; nil for none.
	Foreground func(graph.ID) bool
	// Managers says that what manages the roots, and what goes with them, is looked for too,
	// wherever it is: what deletes or creates them otherwise.
	Managers bool
	// Upwards says that what is above the roots is looked for, to the end, and nothing below them.
	Upwards bool
	// Reads says, of the objects that name what is below them, which are read; nil reads all that
	// are reached.
	Reads func(graph.ID) bool
	// Accounts says that the server is asked what the ServiceAccounts may delete as which programs
	// act.
	Accounts bool
	// Definitions are the links that are known.
	Definitions []*link.Definition
}

// Ownership is what was found.
type Ownership struct {
	// Graph is the request's, with virtual nodes for ends that are not there. All ids of the
	// request's are the same in it.
	Graph *graph.Graph
	// Links are those of the rules and those that objects name.
	Links *link.Links
	// Gaps are what could not be read or understood, so that a link can be missing.
	Gaps []v1alpha1.Gap
	// Sources are the types of objects that can name what was found: one that is created can stand
	// below it.
	Sources []graph.Type
	// Elsewhere says that a link leads to a namespace that was not listed, or comes from one:
	// listing everywhere shows what is there.
	Elsewhere bool
}

// Find reads what it takes to know the links that matter for the roots. An error is one that every
// request would meet, or the end of ctx.
func Find(ctx context.Context, client *cluster.Client, catalog *cluster.Catalog, r Request) (*Ownership, error) {
	s := newSearch(client, catalog, r)
	if len(s.downward)+len(s.lead)+len(s.seek)+len(s.makes) == 0 {
		return &Ownership{Graph: r.Graph, Links: s.rules}, nil
	}
	walk := s.descend
	if r.Upwards {
		walk = s.climb
	}
	if err := walk(ctx); err != nil {
		return nil, err
	}
	if r.Managers {
		if err := errors.Join(s.managers(ctx), s.controllers(ctx), s.askNeeds(ctx)); err != nil {
			return nil, err
		}
	}
	if err := s.askEnds(ctx); err != nil {
		return nil, err
	}
	if r.Accounts {
		if err := s.askAccounts(ctx, cluster.NewReader(client, catalog)); err != nil {
			return nil, err
		}
	}
	return s.result(), nil
}

// descend follows everything that leads downwards from the roots.
func (s *search) descend(ctx context.Context) error {
	s.reach(s.Roots...)
	for {
		if err := s.sought(ctx); err != nil {
			return err
		}
		sources := slices.DeleteFunc(s.unread(), func(id graph.ID) bool { return s.isRead[id] })
		if len(sources) == 0 {
			return nil
		}
		if err := s.read(ctx, sources); err != nil {
			return err
		}
	}
}

// Annotations returns the keys of the annotations that a listing keeps for a Request with Managers:
// those by which objects say what manages them.
func Annotations(definitions []*link.Definition) []string {
	var keys []string
	for _, d := range definitions {
		if of, told := d.Annotations(); told {
			keys = append(keys, of...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
