package render

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// remarkOrder warns that a foreground deletion takes the dependents of an object before whoever has a finalizer on it has done their work, which may need
// them: they order the teardown themselves, and in the background they could (kubernetes/kubernetes#111725).
func (p Plan) remarkOrder() string {
	program, waiting := p.foregroundByLink()
	if p.Policy != plan.Foreground && program == "" {
		return ""
	}
	deleted := map[graph.ID]bool{}
	for _, id := range p.Deleted {
		deleted[id] = true
	}
	var names []string
	for _, b := range p.Blockers {
		if p.orders(b) && p.takes(b.Object, deleted) && (p.Policy == plan.Foreground || waiting[b.Object]) {
			names = append(names, KindName(p.Graph.Ref(b.Object)))
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case p.Policy != plan.Foreground:
		return fmt.Sprintf("%s deletes in the foreground: the dependents of %s are deleted before the controllers of its finalizers act", Escape(program), phrase.FirstFew(names, maxNamed))
	}
	return fmt.Sprintf("the foreground deletion deletes the dependents of %s before the controllers of its finalizers act; with --cascade=background these controllers decide the order", phrase.FirstFew(names, maxNamed))
}

// foregroundByLink returns the first program that deletes in the foreground, and what is deleted so then, by itself or the collector; nothing if none does.
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
