package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// labelsOf writes the labels of an object as kubectl get --show-labels does. Where they could not
// be read they are unknown, which is not none.
func (t Tree) labelsOf(id graph.ID) string {
	labels, known := t.Labels[id]
	switch {
	case !known && t.Graph.State(id) == graph.Absent:
		return "-"
	case !known:
		return "<unknown>"
	case len(labels) == 0:
		return "<none>"
	}
	pairs := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return Escape(strings.Join(pairs, ","))
}
