package cmd

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// heldBy names the finalizers of others that are on an object, each with who takes it off where that is known.
func heldBy(r graph.Ref, finalizers []string, known *finalizer.Registry) string {
	var names []string
	for _, f := range finalizers {
		if f == plan.OrphanFinalizer || f == plan.ForegroundFinalizer {
			continue
		}
		if k, ok := known.Lookup(f, r.Group(), r.Kind); ok && !k.Fallback {
			f += " of " + k.Who()
		}
		names = append(names, f)
	}
	if len(names) == 0 {
		return "terminating"
	}
	return "finalizer " + render.Escape(strings.Join(names, ", "))
}
