package plan

import (
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Refusal is an object whose deletion the server refuses, and what it says.
type Refusal struct {
	Object  graph.ID
	Message string
}

// Without plans the same deletion where the server refuses to delete some objects, whoever asks: a
// policy or a webhook protects them. What was learnt of the plan has to be learnt again.
func (p *Plan) Without(refused []Refusal) *Plan {
	if len(refused) == 0 {
		return p
	}
	opts := p.options
	opts.protected = maps.Clone(opts.protected)
	if opts.protected == nil {
		opts.protected = map[graph.ID]string{}
	}
	for _, r := range refused {
		opts.protected[r.Object] = r.Message
	}
	return New(p.Graph, p.Roots, p.Policy, opts)
}

// Protected are the objects of the cascade whose deletion the server refuses, sorted.
func (p *Plan) Protected() []Refusal {
	var all []Refusal
	for _, id := range slices.Sorted(maps.Keys(p.options.protected)) {
		if !slices.Contains(p.Deleted, id) {
			all = append(all, Refusal{id, p.options.protected[id]})
		}
	}
	return all
}
