package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// heldBy says who has to remove the finalizers of an object, and what that does.
func (p Plan) heldBy(b plan.Blocker) string {
	ref := p.Graph.Ref(b.Object)
	var known, unknown []string
	for _, name := range b.Finalizers {
		k, ok := p.Known.Lookup(name, ref.Group(), ref.Kind)
		switch {
		case !ok:
			unknown = append(unknown, name)
		case len(b.Finalizers) == 1:
			known = append(known, k.OnCompletion())
		default:
			known = append(known, name+": "+k.OnCompletion())
		}
	}
	if len(unknown) > 0 {
		known = append(known, fmt.Sprintf("the controller that added %s has to remove it", strings.Join(unknown, ", ")))
	}
	return strings.Join(known, "; ")
}

// explain says, of each finalizer that will hold something and is known, who removes it and what
// that does, a line each.
func (p Plan) explain() []string {
	var lines []string
	for _, b := range p.Blockers {
		ref := p.Graph.Ref(b.Object)
		for _, name := range b.Finalizers {
			if k, ok := p.Known.Lookup(name, ref.Group(), ref.Kind); ok {
				if line := Escape(name + ": " + k.OnCompletion()); !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}
