package diagnose

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// causes returns what holds an object, followed to the roots. What an object on the way back to itself would add is already being looked at.
func (e *examiner) causes(ctx context.Context, id graph.ID) []finding {
	if known, ok := e.known[id]; ok {
		return known
	}
	if e.looking[id] || ctx.Err() != nil {
		return nil
	}
	e.looking[id] = true
	defer delete(e.looking, id)
	var findings []finding
	if e.Graph.Deleted(id) == 0 {
		findings = e.alive(ctx, id)
	} else {
		findings = e.held(ctx, id)
	}
	if len(e.looking) == 1 { // what was left out because of an object that is being looked at is left out here only
		e.known[id] = findings
	}
	return findings
}

// held returns what holds an object that is being deleted.
func (e *examiner) held(ctx context.Context, id graph.ID) []finding {
	ref := e.Graph.Ref(id)
	var findings []finding
	switch ref.Resource {
	case cluster.Namespaces.Resource:
		if ref.Group() == "" {
			findings = append(findings, e.namespace(ctx, id)...)
		}
	case cluster.Pods.Resource:
		if ref.Group() == "" {
			findings = append(findings, e.pod(ctx, id)...)
		}
	}
	for _, f := range e.Graph.Finalizers(id) {
		findings = append(findings, e.finalizer(ctx, id, f)...)
	}
	if len(findings) == 0 && len(e.Graph.Finalizers(id)) == 0 {
		findings = e.half(ctx, id)
	}
	return findings
}

// finalizer returns what holds an object because of one finalizer.
func (e *examiner) finalizer(ctx context.Context, id graph.ID, name string) []finding {
	switch name {
	case plan.ForegroundFinalizer:
		return e.foreground(ctx, id)
	case plan.OrphanFinalizer:
		return e.orphan(ctx, id)
	case definitionFinalizer:
		return e.definition(ctx, id)
	case jobFinalizer:
		return e.counted(ctx, id)
	}
	if inUse(e.Graph.Ref(id), name) {
		return e.volume(ctx, id, name)
	}
	return e.byActor(ctx, id, name)
}
