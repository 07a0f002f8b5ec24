// Package tree lists a cluster, or the part of it that a query needs, and shows what objects own as
// rows: once, or again whenever something in it changes.
package tree

import (
	"context"
	"iter"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/interrupt"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownership"
	"github.com/kubectl-gc/kubectl-gc/pkg/selection"
)

// Options say what a tree shows.
type Options struct {
	// Owners walks upwards. The query's scope must be that of the owners.
	Owners bool
	// Depth is the distance from the objects to which there are rows; negative for all.
	Depth int
	// Links also follows what no ownerReference records: rules of Kubernetes, and what objects name
	// by the Definitions, which are asked for once everything is listed; nil for none.
	Links       bool
	Definitions func() ([]*link.Definition, error)
	// Shows reports whether an object has a row; nil if all have. It never cuts an edge.
	Shows func(graph.Ref) bool
	// Sums also finds out what goes with each object, and has those first with which most does.
	Sums bool
	// Drawn picks the rows of which READY and STATUS are read; nil reads none.
	Drawn func([]graph.Row) []graph.Row
	// Labels also reads the labels of these rows.
	Labels bool
	// NoRows leaves the rows to Snapshot.Walk: of a million objects they take more memory than the
	// graph. A tree that is watched keeps them.
	NoRows bool
}

// Snapshot is a tree at one time.
type Snapshot struct {
	// Origin is what its JSON says of the cluster.
	v1alpha1.Origin
	*selection.Snapshot
	Rows     []graph.Row
	Readings map[graph.ID]graph.PrinterColumns
	// Labels are nil unless they were asked for. An object that has none here could not be read.
	Labels map[graph.ID]map[string]string
	// Sums are by node, and nil unless they were asked for.
	Sums    map[graph.ID]*v1alpha1.Sum
	links   *link.Links // nil if none were looked for
	sources []graph.Type
	roots   []graph.ID
	options graph.TreeOptions
}

// Walk iterates over the rows of the tree without keeping them, see graph.Graph.Walk.
func (s *Snapshot) Walk() iter.Seq[graph.Row] { return s.Graph.Walk(s.roots, s.options) }

// Links returns the edges that no ownerReference records; nil if none were looked for.
func (s *Snapshot) Links() *link.Links { return s.links }

// Look lists what the query needs and finds the rows of its tree. An object that was named and is
// not there is an error. It ends with ctx.
func Look(ctx context.Context, q *selection.Query, opts Options) (*Snapshot, error) {
	return look(ctx, q, nil, opts)
}

// look is Look for objects that are followed; nil for those that the query names. Finding the links
// and rows of a large graph knows no context.
func look(ctx context.Context, q *selection.Query, of *followed, opts Options) (*Snapshot, error) {
	return interrupt.Do(ctx, func() (*Snapshot, error) { return snapshot(ctx, q, of, opts) })
}

func snapshot(ctx context.Context, q *selection.Query, of *followed, opts Options) (*Snapshot, error) {
	listed, err := q.List(ctx)
	if err != nil {
		return nil, err
	}
	if err := q.Unlisted(listed.Graph, listed.Gaps); err != nil {
		return nil, err
	}
	roots, show, err := find(ctx, q, listed.Graph, of, opts.Shows)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Snapshot: listed}
	rows := graph.TreeOptions{Owners: opts.Owners, Depth: opts.Depth, Show: show, HideRoots: q.All()}
	if opts.Links && !q.All() {
		own, err := links(ctx, q, listed.Graph, roots, opts)
		if err != nil {
			return nil, err
		}
		if own.Elsewhere {
			everywhere := *q
			everywhere.Scope = ""
			return snapshot(ctx, &everywhere, of, opts)
		}
		listed.Graph, listed.Gaps = own.Graph, slices.Concat(listed.Gaps, own.Gaps)
		s.links, s.sources = own.Links, own.Sources
		if rows.Links = own.Links.Dependents; opts.Owners {
			rows.Links = own.Links.Owners
		}
	}
	if opts.Sums {
		if err := s.sum(ctx, q.Client, roots, rows); err != nil {
			return nil, err
		}
		rows.Compare = s.largestFirst
	}
	s.roots, s.options = roots, rows
	if !opts.NoRows {
		s.Rows = s.Graph.Tree(roots, rows)
	}
	if opts.Drawn == nil || opts.NoRows {
		return s, nil
	}
	shown := observed(s.Graph, opts.Drawn(s.Rows))
	if s.Readings, err = q.Client.PrinterColumns(ctx, s.Graph, shown, listed.ResumePoints); err == nil && opts.Labels {
		s.Labels, err = q.Client.Labels(ctx, s.Graph, shown)
	}
	return s, err
}

// links finds the links of the roots.
func links(ctx context.Context, q *selection.Query, g *graph.Graph, roots []graph.ID,
	opts Options) (*ownership.Ownership, error) {
	r := ownership.Request{Graph: g, Scope: q.Scope, Roots: roots, Upwards: opts.Owners}
	if opts.Definitions != nil {
		var err error
		if r.Definitions, err = opts.Definitions(); err != nil {
			return nil, err
		}
	}
	return ownership.Find(ctx, q.Client, q.Catalog, r)
}

// find returns the roots of the tree and what of it has rows.
func find(ctx context.Context, q *selection.Query, g *graph.Graph, of *followed,
	shows func(graph.Ref) bool) ([]graph.ID, func(graph.ID) bool, error) {
	var show func(graph.ID) bool
	if shows != nil {
		show = func(id graph.ID) bool { return shows(g.Ref(id)) }
	}
	if q.All() {
		ids, related := q.Forest(g)
		if show == nil {
			return ids, related, nil
		}
		return ids, func(id graph.ID) bool { return show(id) && (related == nil || related(id)) }, nil
	}
	if of != nil {
		return of.in(g), show, nil
	}
	ids, err := q.Find(ctx, g)
	return ids, show, err
}

// observed are the objects of rows that can be asked about, each once.
func observed(g *graph.Graph, rows []graph.Row) []graph.ID {
	ids := make([]graph.ID, 0, len(rows))
	seen := make([]bool, g.Len())
	for _, row := range rows {
		if !row.Hidden && !seen[row.ID] && g.Observed(row.ID) {
			seen[row.ID] = true
			ids = append(ids, row.ID)
		}
	}
	return ids
}
