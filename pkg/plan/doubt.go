package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Doubtful are the links because of which alone objects are deleted, if they are: it is not known
// what the account may do as which the program acts, or that account is deleted too, and the
// program deletes nothing once it is gone.
func (p *Plan) Doubtful() []link.Found {
	if p.options.Links == nil {
		return nil
	}
	var all []link.Found
	ends := map[graph.ID]bool{}
	for _, id := range p.Deleted {
		for _, f := range p.options.Links.Above(id) {
			account, ok := accountOf(p.Graph, &f)
			loses := ok && p.end.is(account, deleting|gone) || !ok && f.Account != "" && p.namespaceGoes(f.Source)
			if f.Deletes() && p.end.is(f.Owner(), deleting|gone) && (f.Unsure != "" || loses) {
				all, ends[id] = append(all, f), true
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	for _, id := range p.Sparing(ends) {
		delete(ends, id)
	}
	return slices.DeleteFunc(all, func(f link.Found) bool { return !ends[f.Dependent()] })
}

// namespaceGoes says whether the namespace of an object goes, and with it what could not be listed
// there.
func (p *Plan) namespaceGoes(id graph.ID) bool {
	namespace, ok := p.Graph.Find("", "namespaces", "", p.Graph.Namespace(id))
	return ok && p.end.is(namespace, deleting|gone)
}
