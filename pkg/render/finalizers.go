package render

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// FinalizersOf names finalizers of an object, each with who removes it where that is known.
func FinalizersOf(r graph.Ref, finalizers []string, known *finalizer.Registry) string {
	var names []string
	for _, f := range finalizers {
		if k, ok := known.Lookup(f, r.Group(), r.Kind); ok && !k.Fallback {
			f += " of " + k.Who()
		}
		names = append(names, f)
	}
	if len(names) == 0 {
		return "terminating"
	}
	return "finalizer " + Escape(strings.Join(names, ", "))
}
