package render

import (
	"io"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// mostLeftovers is how many objects that are left are named.
const mostLeftovers = 20

// Leftovers writes what a run leaves to others, a line for each object. What is known of finalizers
// may be nothing.
func Leftovers(w io.Writer, g *graph.Graph, left []plan.ObjectReason, known *finalizer.Registry) {
	for i, l := range left {
		if i == mostLeftovers {
			note(w, "and %d more are left", len(left)-mostLeftovers)
			return
		}
		note(w, "left: %s: %s", Quoted(g.Ref(l.Object)), LeftBecause(g, l, known))
	}
}

// LeftBecause says why an object is left, with the finalizers of others on it and whose they are.
func LeftBecause(g *graph.Graph, l plan.ObjectReason, known *finalizer.Registry) string {
	if l.Because.Code != plan.ForeignFinalizers {
		return l.Because.Sentence(g, l.Object)
	}
	return FinalizersOf(g.Ref(l.Object), plan.Foreign(g.Finalizers(l.Object)), known)
}
