package diagnose

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// explained returns what holds an object, followed to the roots. What an object on the way back to itself would add is already being looked at.
func (e *examiner) explained(ctx context.Context, id graph.ID) []core.Finding {
	if known, ok := e.settled[id]; ok {
		return known
	}
	if e.looking[id] || ctx.Err() != nil {
		return nil
	}
	e.looking[id] = true
	defer delete(e.looking, id)
	findings := e.strayed(ctx, id)
	switch {
	case len(findings) > 0: // and nothing else can be done before the namespace exists
	case e.Graph.DeletionTimestamp(id) == 0:
		findings = e.alive(ctx, id)
	default:
		findings = e.whyTerminating(ctx, id)
	}
	if len(e.looking) == 1 { // what was left out because of an object that is being looked at is left out here only
		e.settled[id] = findings
	}
	return findings
}

// whyTerminating returns why an object that is being deleted is still there: what the probes of its type find, then those of its finalizers, and if nobody finds anything
// and it has no finalizer, that its deletion was left half done.
func (e *examiner) whyTerminating(ctx context.Context, id graph.ID) []core.Finding {
	ref := e.Graph.Ref(id)
	var findings []core.Finding
	for _, p := range e.ofObjects() {
		if p.looksAt(ref) {
			findings = append(findings, p.look(ctx, id)...)
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

// finalizer returns what holds an object because of one finalizer: the first probe that looks at it says.
func (e *examiner) finalizer(ctx context.Context, id graph.ID, name string) []core.Finding {
	ref := e.Graph.Ref(id)
	for _, p := range e.ofFinalizers() {
		if p.looksAt(ref, name) {
			return p.look(ctx, id, name)
		}
	}
	return e.linked.throughLinks(ctx, id, name, e.ByActor(ctx, id, name))
}
