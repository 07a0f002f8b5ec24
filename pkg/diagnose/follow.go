package diagnose

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownership"
)

// follow returns the snapshot with the links of packs that matter for why objects are still there: those of what is being deleted and has the finalizer for them.
// Elsewhere says that one leads out of the namespace that was listed. The error is one that every request would meet, or that of a context that ended.
func (s Snapshot) follow(ctx context.Context, client *cluster.Client, scope string, of Subjects, known *finalizer.Registry) (followed Snapshot, elsewhere bool, err error) {
	followed = s
	followed.links = link.New(s.Graph)
	definitions := byFinalizer(known)
	holds := func(id graph.ID) bool {
		return s.Graph.DeletionTimestamp(id) != 0 && slices.ContainsFunc(s.Graph.Finalizers(id), func(name string) bool {
			return slices.ContainsFunc(definitions, func(d *link.Definition) bool { return d.Deletion.Holds(name) })
		})
	}
	if !s.any(holds) {
		return followed, false, nil
	}
	roots := s.roots(of)
	own, err := ownership.Find(ctx, client, s.Catalog, ownership.Request{Graph: s.Graph, Scope: scope, Roots: roots, Reads: holds, Definitions: definitions})
	if err != nil {
		return s, false, err
	}
	followed.Graph, followed.links, followed.definitions, followed.unlinked = own.Graph, own.Links, definitions, own.Gaps
	return followed, own.Elsewhere, nil
}

// byFinalizer are the links whose program does something before it removes its finalizer.
func byFinalizer(known *finalizer.Registry) []*link.Definition {
	if known == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(known.Links()), func(d *link.Definition) bool { return d.Deletion.Finalizer == "" })
}

// any says whether there is an object for which f is true.
func (s Snapshot) any(f func(graph.ID) bool) bool {
	for i := range s.Graph.Len() {
		if f(graph.ID(i)) {
			return true
		}
	}
	return false
}

// roots are the objects that are asked about: those that are named, or all that are being deleted.
func (s Snapshot) roots(of Subjects) []graph.ID {
	if len(of.Observed)+len(of.Hidden) > 0 {
		return of.Observed
	}
	var ids []graph.ID
	for i := range s.Graph.Len() {
		if id := graph.ID(i); s.Graph.DeletionTimestamp(id) != 0 && (of.In == nil || of.In(id)) {
			ids = append(ids, id)
		}
	}
	return ids
}
