package deletion

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Change is why a deletion was planned again, and what the new plan does beyond those that were
// agreed to.
type Change struct {
	// Roots are the objects that were changed since the plan was made, or that own what was.
	Roots []graph.Ref
	// Growth has the IDs of the new plan's graph.
	Growth plan.Growth

	graph *graph.Graph
}

// What names what was changed.
func (c *Change) What() string {
	switch len(c.Roots) {
	case 0: // between the stages of an ordered deletion
		return "objects were created or changed since the plan was made"
	case 1:
		return c.Roots[0].Quoted() + " was changed since the plan was made"
	}
	return firstFew(c.Roots) + ", or their dependents, were changed since the plan was made"
}

// More words what the plan has grown by.
func (c *Change) More() string {
	var parts []string
	if len(c.Growth.Deleted) > 0 {
		parts = append(parts, "deletes "+firstFew(refs(c.graph, c.Growth.Deleted)))
	}
	for i, b := range c.Growth.Blockers {
		if i == phrase.MaxNamed {
			parts = append(parts, fmt.Sprintf("%d more have finalizers", len(c.Growth.Blockers)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s has finalizer %s", firstFew([]graph.Ref{c.graph.Ref(b.Object)}),
			strings.Join(b.Finalizers, ", ")))
	}
	var stuck []graph.ID
	for _, s := range c.Growth.Deadlocked {
		stuck = append(stuck, s.Object)
	}
	if len(stuck) > 0 {
		parts = append(parts, "the deletion of "+firstFew(refs(c.graph, stuck))+" cannot complete")
	}
	return strings.Join(parts, "; ")
}
