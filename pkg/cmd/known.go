package cmd

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// heldBy names the finalizers of others that are on an object, each with who takes it off where that is known.
func heldBy(r graph.Ref, finalizers []string, known *finalizer.Registry) string {
	return allHeldBy(r, slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool {
		return f == plan.OrphanFinalizer || f == plan.ForegroundFinalizer
	}), known)
}

// allHeldBy names finalizers of an object, the collector's too.
func allHeldBy(r graph.Ref, finalizers []string, known *finalizer.Registry) string {
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
	return "finalizer " + render.Escape(strings.Join(names, ", "))
}
