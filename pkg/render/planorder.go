package render

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// remarkOrder warns that a foreground deletion takes the dependents of an object before whoever has
// a finalizer on it has done their work, which may need them: they order the teardown themselves,
// and in the background they could (kubernetes/kubernetes#111725).
func (p Plan) remarkOrder() []remark {
	program, waiting := p.foregroundByLink()
	if p.Policy != plan.Foreground && program == "" {
		return nil
	}
	deleted := map[graph.ID]bool{}
	for _, id := range p.Deleted {
		deleted[id] = true
	}
	var ids []graph.ID
	for _, b := range p.Blockers {
		if p.orders(b) && p.takes(b.Object, deleted) && (p.Policy == plan.Foreground || waiting[b.Object]) {
			ids = append(ids, b.Object)
		}
	}
	names := few(KindNamesOf(p.Graph, ids))
	switch {
	case len(ids) == 0:
		return nil
	case p.Policy != plan.Foreground:
		return []remark{p.about(
			fmt.Sprintf(
				"%s deletes in the foreground: the dependents of %s are deleted before the controllers of its finalizers act",
				Escape(program), names), ids...)}
	}
	return []remark{p.about(
		fmt.Sprintf(
			"the foreground deletion deletes the dependents of %s before the controllers of its finalizers act; with --cascade=background these controllers decide the order", names), ids...)}
}

// foregroundByLink returns the first program that deletes in the foreground, and what is deleted so
// then, by itself or the collector; nothing if none does.
func (p Plan) foregroundByLink() (string, map[graph.ID]bool) {
	program, waiting := "", map[graph.ID]bool{}
	for _, a := range p.Actions {
		if a.Verb != plan.VerbDelete || a.Policy != plan.Foreground {
			continue
		}
		waiting[a.Object] = true
		if f, ok := p.Link(a.Object, a.Because); ok && program == "" {
			program = f.Definition.Deletion.By
		}
	}
	return program, waiting
}

// orders says whether somebody has work to do before the object goes, or may have.
func (p Plan) orders(b plan.Blocker) bool {
	r := p.Graph.Ref(b.Object)
	return slices.ContainsFunc(b.Finalizers, func(f string) bool {
		k, ok := p.Known.Lookup(f, r.Group(), r.Kind)
		return !ok || k.Polarity == finalizer.Cleanup || k.Polarity == finalizer.OptInDestructive
	})
}

// takes says whether a dependent of the object goes too.
func (p Plan) takes(id graph.ID, deleted map[graph.ID]bool) bool {
	for e := range p.Graph.Dependents(id) {
		if deleted[e.Dependent] && e.Dependent != id {
			return true
		}
	}
	return false
}
