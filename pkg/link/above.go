package link

import (
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Above returns the links above an object that objects name, by their owners.
func (l *Links) Above(dependent graph.ID) []Found {
	if l.above == nil {
		l.above = map[graph.ID][]Found{}
		for _, owner := range slices.Sorted(maps.Keys(l.found)) {
			for _, f := range l.found[owner] {
				l.above[f.Dependent()] = append(l.above[f.Dependent()], f)
			}
		}
	}
	return l.above[dependent]
}
