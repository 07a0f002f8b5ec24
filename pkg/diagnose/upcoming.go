package diagnose

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// upcoming returns what will keep an object that is not being deleted yet: its finalizers that
// nobody is there to remove. Of one whose actor lives, or whose actor cannot be seen from here,
// nothing is said before it is in the way.
func (e *examiner) upcoming(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	var findings []core.Finding
	for _, name := range core.Others(e.Graph.Finalizers(id)) {
		if _, own := e.probeOf(ref, name); own {
			continue
		}
		for _, f := range e.removes(ctx, id, name) {
			if f.Code == core.FinalizerActorAlive || f.Code == core.FinalizerActorUnknown && f.Actor != "" {
				continue
			}
			f.Evidence = append(core.Observed("it is not being deleted yet, and once it is, the finalizer blocks it"),
				f.Evidence...)
			// unfinalize refuses to take it off what is not being deleted
			f.Commands = slices.DeleteFunc(slices.Clone(f.Commands), func(s core.Step) bool { return s.Removes })
			findings = append(findings, f)
		}
	}
	return core.Later(core.Found(ref, findings...))
}

// upcomingBelow returns what will keep an object that the garbage collector is to delete in the
// foreground, and the dependents that it waits for then.
func (e *examiner) upcomingBelow(ctx context.Context, id graph.ID, seen map[graph.ID]bool) []core.Finding {
	if seen[id] || ctx.Err() != nil {
		return nil
	}
	seen[id] = true
	findings := e.upcoming(ctx, id)
	for edge := range e.Graph.Dependents(id) {
		if e.collector.projection.Blocks(edge) && e.Graph.DeletionTimestamp(edge.Dependent) == 0 {
			findings = append(findings, core.Behind(e.Graph.Ref(edge.Dependent), e.upcomingBelow(ctx, edge.Dependent, seen))...)
		}
	}
	return findings
}
