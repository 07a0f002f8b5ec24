package render

import (
	"fmt"
	"io"
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

// explain writes, of each finalizer that will hold something and is known, who removes it and what
// that does.
func (p Plan) explain(w io.Writer) error {
	told := map[string]bool{}
	for _, b := range p.Blockers {
		ref := p.Graph.Ref(b.Object)
		for _, name := range b.Finalizers {
			k, ok := p.Known.Lookup(name, ref.Group(), ref.Kind)
			line := name + ": " + k.OnCompletion()
			if !ok || told[line] {
				continue
			}
			told[line] = true
			if _, err := fmt.Fprintln(w, Escape(line)); err != nil {
				return err
			}
		}
	}
	return nil
}
