package plan

import (
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Without plans the same deletion where the server refuses to delete some objects, whoever asks: a
// policy or a webhook protects them, with what it says. What was learnt of the plan has to be learnt
// again.
func (p *Plan) Without(refused map[graph.ID]string) *Plan {
	if len(refused) == 0 {
		return p
	}
	opts := p.options
	opts.protected = maps.Clone(opts.protected)
	if opts.protected == nil {
		opts.protected = map[graph.ID]string{}
	}
	maps.Copy(opts.protected, refused)
	return New(p.Graph, p.Roots, p.Policy, opts)
}

// Protected are the objects of the cascade whose deletion the server refuses, sorted.
func (p *Plan) Protected() []v1alpha1.Protected {
	var all []v1alpha1.Protected
	for _, id := range slices.Sorted(maps.Keys(p.options.protected)) {
		if !slices.Contains(p.Deleted, id) {
			all = append(all, v1alpha1.Protected{Object: p.Graph.Ref(id), Message: p.options.protected[id]})
		}
	}
	return all
}
